"""What programs are asked of a newer configuration counts, however slow the older ones are."""

from __future__ import annotations

import asyncio

from kettle.startd.services.questions import Questions
from kettle.testing.virtual_loop import run_virtually


def test_the_answer_to_the_newest_question_of_a_kind_is_taken() -> None:
    heard: list[str] = []

    async def answer(said: str, seconds: float) -> None:
        await asyncio.sleep(seconds)
        heard.append(said)

    async def scenario() -> None:
        questions = Questions()
        questions.ask("plug-ins", answer("old", 10))
        questions.ask("Java", answer("Java", 1))
        await asyncio.sleep(0.5)
        questions.ask("plug-ins", answer("new", 1))
        await asyncio.sleep(20)
        questions.ask("Java", answer("too late", 1))
        questions.close()
        await asyncio.sleep(20)

    run_virtually(scenario())
    assert heard == ["Java", "new"]
