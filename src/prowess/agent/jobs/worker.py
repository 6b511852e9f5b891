"""The worker: the one process of a machine that runs jobs, and takes over from dead ones.

DBOS runs a job again only where a process with the same executor id starts. Here each process has
an id of its own and says every few seconds that it is alive; who has been silent for too long is
declared dead, and its jobs go back to their queues. A worker that finds itself declared dead must
stop at once, because others do its work.
"""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module

from dbos import DBOS, DBOSConfig, DBOSPortableJSONSerializer
from sqlalchemy.exc import SQLAlchemyError

from prowess.agent.jobs.client import Jobs
from prowess.agent.jobs.engine import Engine, start_engine
from prowess.agent.jobs.queue_limits import POLL_SECONDS, QueueLimits
from prowess.agent.jobs.queues import list_queues
from prowess.agent.jobs.schedules import Schedules
from prowess.agent.jobs.values import LEASE_SECONDS, VERSION
from prowess.errors import MachineError
from prowess.machine.append_file import unique_hex
from prowess.model.facts import Facts
from prowess.model.settings import JobSettings
from prowess.state.job_files import WorkerRunning, hold_worker_lock, load_machine_name

APPLICATION = "prowess"
_BEATS_PER_LEASE = 6
# A worker that cannot reach the database stops before others may take its work.
_SAFE_PART = 0.8
_WORKFLOWS = ("prowess.agent.jobs.turns", "prowess.agent.batch.workflow")


class JobWorker:
    """Serves the queues of this machine, and others by name, until it is told to stop.

    `on_lost` is called with the reason when others have taken over, or will: the process must end
    without finishing anything. `on_note` is called with what its user should know.
    """

    def __init__(
        self,
        settings: JobSettings,
        facts: Facts,
        *,
        pid: int,
        queues: Sequence[str] = (),
        lease: float = LEASE_SECONDS,
        on_lost: Callable[[str], None],
        on_note: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._jobs = Jobs(settings, facts)
        self._schedules = Schedules(self._jobs)
        self.database = self._jobs.database
        self.machine = load_machine_name(facts)
        self.queues = list_queues(self.machine, queues)
        concurrency = settings.concurrency
        self._limits = QueueLimits(self._jobs, self.queues, concurrency=concurrency)
        self._facts = facts
        self._pid = pid
        self.id = self._new_id()
        self._lease = lease
        self._on_lost = on_lost
        self._on_note = on_note
        self._stop = threading.Event()
        self._last_beat = 0.0

    def run(
        self, *, until_idle: bool = False, on_ready: Callable[[], object] | None = None
    ) -> None:
        """Serve the queues until `stop`, or with `until_idle` until no job and no schedule is left.

        Raises `WorkerRunning`.
        """
        try:
            self._run_once(until_idle=until_idle, on_ready=on_ready)
            # Whoever added a job in the last moment saw that a worker runs, and started none.
            while until_idle and not self._stop.is_set() and self._may_have_work():
                self.id = self._new_id()
                try:
                    self._run_once(until_idle=until_idle)
                except WorkerRunning:
                    # It has started meanwhile, and does the rest.
                    return
        finally:
            self._jobs.close()

    def _run_once(self, *, until_idle: bool, on_ready: Callable[[], object] | None = None) -> None:
        with hold_worker_lock(self._facts):
            self.database.prepare()
            self.database.workers.add(self.id, self.machine, self._pid, self._names)
            # Whoever held the lock before has ended, however long ago it was last seen.
            self.database.workers.bury_machine(self.machine, but=self.id)
            self._launch()
            try:
                if on_ready is not None:
                    on_ready()
                self._serve(until_idle=until_idle)
            finally:
                _shut_down()
                self.database.workers.remove(self.id)

    def _new_id(self) -> str:
        return f"{self.machine}-{self._pid}-{unique_hex()}"

    def stop(self) -> None:
        """Stop serving; jobs that are under way go on with the next worker."""
        self._stop.set()

    def _launch(self) -> None:
        start_engine(Engine(self.database, self._facts, self.machine))
        for module in _WORKFLOWS:
            import_module(module)
        DBOS(
            config=DBOSConfig(
                name=APPLICATION,
                system_database_url=self.database.url,
                application_version=VERSION,
                executor_id=self.id,
                serializer=DBOSPortableJSONSerializer(),
                log_level="CRITICAL",
                console_log_level="CRITICAL",
                enable_otlp=False,
                run_migrations=False,
                notification_listener_polling_interval_sec=POLL_SECONDS,
            )
        )
        DBOS.listen_queues(self._names)
        self._beat()
        DBOS.launch()
        self._limits.register()

    def _serve(self, *, until_idle: bool) -> None:
        ended = threading.Event()
        beats = threading.Thread(target=self._beat_until, args=(ended,), name="beat", daemon=True)
        beats.start()
        # Schedules can be due every second.
        pause = min(self._lease / _BEATS_PER_LEASE, 1.0)
        idle_rounds = 0
        while not self._stop.is_set():
            try:
                self._recover_lost()
                self._limits.adjust()
                self._start_due()
                idle_rounds = 0 if self._has_work() else idle_rounds + 1
            except (MachineError, SQLAlchemyError):
                # A database that does not come back ends this process through its beats.
                idle_rounds = 0
            if until_idle and idle_rounds > 1:
                break
            self._stop.wait(pause)
        ended.set()
        beats.join()

    def _beat_until(self, ended: threading.Event) -> None:
        """Say every few seconds that this worker is alive, from a thread of its own."""
        while not ended.wait(self._lease / _BEATS_PER_LEASE):
            try:
                self._beat()
            except MachineError as error:
                if time.monotonic() - self._last_beat > self._lease * _SAFE_PART:
                    self._on_lost(f"{str(error).rstrip('.')} (retried for too long)")

    def _beat(self) -> None:
        began = time.monotonic()
        if self.database.workers.beat(self.id):
            self._last_beat = began
        else:
            self._on_lost("Other workers have taken over the jobs of this one")

    def _recover_lost(self) -> None:
        """Put the jobs of dead workers back into their queues."""
        pending = DBOS.list_workflows(status="PENDING", load_input=False, load_output=False)
        executors = {str(one.executor_id) for one in pending} - {self.id}
        if not executors:
            return
        alive = {
            one.id
            for one in self.database.workers.list_all()
            if not one.is_dead and one.silent < self._lease
        }
        lost = sorted(executors - alive)
        # Marked first: a worker that is only slow finds out before its work is given away.
        self.database.workers.bury(lost)
        if lost:
            # Not public, but the only way: DBOS recovers at the start of the same executor only.
            DBOS._recover_pending_workflows(lost)

    def _start_due(self) -> None:
        """Start what the schedules of the queues have for now."""
        for schedule in self._schedules.start_due(self._names):
            if schedule.note:
                self._on_note(f"{schedule.name}: {schedule.note}")

    def _may_have_work(self) -> bool:
        try:
            return self._has_work()
        except (MachineError, SQLAlchemyError):
            # If that lasts, the next run ends with what is wrong with the database.
            return True

    def _has_work(self) -> bool:
        """Whether there are jobs, or schedules that will add some."""
        return self._jobs.has_active(self._names) or self._schedules.has_active(self._names)

    @property
    def _names(self) -> list[str]:
        return [queue.name for queue in self.queues]


def _shut_down() -> None:
    """End DBOS in this process; jobs that are under way go on with the next worker."""
    with warnings.catch_warnings():
        # A job that was taken in the last moment has not begun, so its coroutine is not awaited.
        warnings.simplefilter("ignore", RuntimeWarning)
        DBOS.destroy(workflow_completion_timeout_sec=0)
