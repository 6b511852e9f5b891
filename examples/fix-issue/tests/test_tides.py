import sys

sys.path.insert(0, "src")
from tides import height

assert height(3.0) == 3
print("ok")
