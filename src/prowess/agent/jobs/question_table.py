"""What jobs wait for a person to decide, and the answers.

DBOS has no questions that a running step can ask, so they are kept here.
"""

from __future__ import annotations

import msgspec
import sqlalchemy as sa

from prowess.agent.jobs.storage import Storage, flag, key, make_table, text, time
from prowess.agent.jobs.values import Question
from prowess.errors import UnknownName, UsageError
from prowess.machine.append_file import unique_hex
from prowess.model.permission import ApprovalAnswer

QUESTIONS = make_table(
    "questions",
    key("id"),
    text("job", index=True),
    # The same question of a step that runs again is the same row.
    text("key"),
    time("asked"),
    text("question"),
    text("answer", nullable=True),
    flag("is_taken"),
)
_row = QUESTIONS.c


class QuestionTable:
    """A row per question. An answer is taken once, by the step that asked."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def ask(self, question: Question, key: str) -> str:
        """Put a question to a person, and return its id; one that is open is not asked again."""
        is_same = (_row.job == question.job) & (_row.key == key)
        row = {
            "id": question.id,
            "job": question.job,
            "key": key,
            "asked": self._storage.now,
            # Metadata of a request may have values of any type.
            "question": msgspec.json.encode(question, enc_hook=str).decode(),
            "is_taken": False,
        }
        with self._storage.begin() as connection:
            open_one = sa.select(_row.id).where(is_same, ~_row.is_taken)
            found = connection.execute(open_one).scalar()
            if found is not None:
                return str(found)
            connection.execute(sa.insert(QUESTIONS).values(**row))
        return question.id

    def take_answer(self, id: str) -> ApprovalAnswer | None:
        """The answer to a question, which is used up by this; None if there is none yet."""
        with self._storage.begin() as connection:
            answer = connection.execute(sa.select(_row.answer).where(_row.id == id)).scalar()
            if answer is None:
                return None
            connection.execute(sa.update(QUESTIONS).where(_row.id == id).values(is_taken=True))
        return msgspec.json.decode(answer, type=ApprovalAnswer)

    def list_open(self, job: str | None = None) -> list[Question]:
        """The questions without an answer, oldest first."""
        query = sa.select(_row.question, _row.asked).where(_row.answer.is_(None), ~_row.is_taken)
        if job is not None:
            query = query.where(_row.job == job)
        with self._storage.begin() as connection:
            rows = connection.execute(query.order_by(_row.asked)).all()
        questions = ((msgspec.json.decode(text, type=Question), asked) for text, asked in rows)
        return [msgspec.structs.replace(one, asked=asked) for one, asked in questions]

    def answer(self, id: str, answer: ApprovalAnswer) -> None:
        """Answer a question. Raises `UnknownName`, and `UsageError` where it is answered."""
        unanswered = sa.update(QUESTIONS).where(_row.id == id, _row.answer.is_(None))
        text = msgspec.json.encode(answer).decode()
        with self._storage.begin() as connection:
            if connection.execute(sa.select(_row.id).where(_row.id == id)).first() is None:
                raise UnknownName(id, [one.id for one in self.list_open()])
            if connection.execute(unanswered.values(answer=text)).rowcount == 0:
                raise UsageError(f"The question {id} has already been answered.")

    def drop(self, job: str) -> None:
        """Take back the open questions of a job that no longer waits for them."""
        open_ones = sa.update(QUESTIONS).where(_row.job == job, ~_row.is_taken)
        with self._storage.begin() as connection:
            connection.execute(open_ones.values(is_taken=True))


def new_question_id() -> str:
    """An id that a person can type."""
    return unique_hex()
