"""A language model's server as the tests need it: OpenAI's protocol over a plain socket, and every way it can fail.

    with ModelServer() as server:
        server.script(['{"facts": []}', status(429, {"retry-after": "1"}), says("{}", usage=None)])
        Engram(settings=load({}, llm_model="openai/test", llm_api_base=server.url, llm_api_keys="key"))
        server.requests[0].prompt

A script is one behaviour, a list of them (one a request, the last again and again), or a function of the request that
gives one. A text, a mapping or a pydantic model stands for an answer that says it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import struct
import threading
import weakref
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from pydantic import BaseModel

DEFAULT_USAGE: Any = object()


@dataclass(frozen=True)
class Request:
    """What a client sent."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]

    @property
    def key(self) -> str:
        """The API key it came with."""
        return self.headers.get("authorization", "").removeprefix("Bearer ")

    @property
    def prompt(self) -> str:
        """Everything the model was told, as one text."""
        return "\n\n".join(str(message["content"]) for message in self.body.get("messages", ()))


Behaviour = Callable[[Request, asyncio.StreamWriter], Awaitable[None]]
Script = Behaviour | str | Mapping[str, Any] | BaseModel


def says(
    text: str | Mapping[str, Any] | BaseModel,
    *,
    usage: Any = DEFAULT_USAGE,
    finish: str | None = "stop",
    pieces: int = 3,
    pause: float = 0.0,
    refusal: str | None = None,
) -> Behaviour:
    """An answer in `pieces`, `pause` seconds between them; usage is 100 tokens in and 20 out unless told."""
    written = _written(text)

    async def behave(request: Request, writer: asyncio.StreamWriter) -> None:
        counted = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
        counted = counted if usage is DEFAULT_USAGE else usage
        if not request.body.get("stream"):
            message = {"role": "assistant", "content": written, "refusal": refusal}
            choice = {"index": 0, "message": message, "finish_reason": finish}
            await _send(writer, head(200, {"content-type": "application/json"}))
            await _send(writer, json.dumps(_completion("chat.completion", [choice], counted)).encode())
            return
        await _send(writer, head(200, {"content-type": "text/event-stream"}))
        for event in _events(written, finish, pieces, refusal, counted):
            await _send(writer, event)
            await asyncio.sleep(pause)

    return behave


def stream_of(text: str, *, finish: str | None = "stop", pieces: int = 3) -> bytes:
    """The bytes of a whole answer, head and all: for tests that cut it somewhere."""
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    return head(200, {"content-type": "text/event-stream"}) + b"".join(_events(text, finish, pieces, None, usage))


def status(code: int, headers: Mapping[str, str] | None = None, body: Any = None) -> Behaviour:
    """A status with OpenAI's form of an error, or with a body of its own (text as it is).

    As with real providers, the error says what was sent: the key and the prompt.
    """

    async def behave(request: Request, writer: asyncio.StreamWriter) -> None:
        said = f"status {code}: {request.key} {request.prompt}"
        given = {"error": {"message": said, "type": "error", "code": str(code)}} if body is None else body
        await _send(writer, head(code, {"content-type": "application/json", **(headers or {})}))
        await _send(writer, given.encode() if isinstance(given, str) else json.dumps(given).encode())

    return behave


def raw(*parts: bytes, pause: float = 0.0) -> Behaviour:
    """Exactly these bytes, `pause` seconds between the parts, and then the end of the connection."""

    async def behave(_: Request, writer: asyncio.StreamWriter) -> None:
        for part in parts:
            await _send(writer, part)
            await asyncio.sleep(pause)

    return behave


def stalls(after: bytes = b"", seconds: float = 30.0) -> Behaviour:
    """These bytes, and then silence."""

    async def behave(_: Request, writer: asyncio.StreamWriter) -> None:
        await _send(writer, after)
        await asyncio.sleep(seconds)

    return behave


def drips(whole: bytes, every: float = 0.1) -> Behaviour:
    """One byte after another."""
    return raw(*(whole[n : n + 1] for n in range(len(whole))), pause=every)


def resets(after: bytes = b"") -> Behaviour:
    """These bytes, and then a reset of the connection."""

    async def behave(_: Request, writer: asyncio.StreamWriter) -> None:
        await _send(writer, after)
        socket = writer.get_extra_info("socket")
        import socket as sockets

        socket.setsockopt(sockets.SOL_SOCKET, sockets.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    return behave


def head(code: int, headers: Mapping[str, str] | None = None) -> bytes:
    """The head of an HTTP answer that ends with its connection."""
    lines = [f"HTTP/1.1 {code} Status", "connection: close", "x-request-id: req-1"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


class ModelServer:
    """A server of a language model that follows a script; see the module."""

    def __init__(self, script: Script | Sequence[Script] | Callable[[Request], Script] = "{}") -> None:
        self.requests: list[Request] = []
        self.open = 0  # connections open now
        self._writers: weakref.WeakSet[asyncio.StreamWriter] = weakref.WeakSet()
        self.script(script)

    def script(self, script: Script | Sequence[Script] | Callable[[Request], Any]) -> None:
        """Answer like this from now on."""
        self._script, self._step = script, 0

    @property
    def url(self) -> str:
        """What a client takes for its `api_base`."""
        return f"http://127.0.0.1:{self._port}/v1"

    def __enter__(self) -> Self:
        started = threading.Event()
        self._thread = threading.Thread(target=self._serve, args=(started,), name="model-server", daemon=True)
        self._thread.start()
        assert started.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._done.set)
        self._thread.join(10)

    def _serve(self, started: threading.Event) -> None:
        async def serve() -> None:
            self._loop, self._done = asyncio.get_running_loop(), asyncio.Event()
            server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
            self._port = server.sockets[0].getsockname()[1]
            started.set()
            await self._done.wait()
            server.close()
            answering = asyncio.all_tasks() - {asyncio.current_task()}
            for task in answering:
                task.cancel()
            await asyncio.gather(*answering, return_exceptions=True)
            writers = list(self._writers)
            for writer in writers:  # a client that reads no more would keep its connection open
                writer.transport.abort()
            await asyncio.gather(*(writer.wait_closed() for writer in writers), return_exceptions=True)

        asyncio.run(serve())

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        self._writers.add(writer)
        # A client that hung up, or the end of the server, ends the answer wherever it is.
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            request = await _read(reader)
            self.requests.append(request)
            behaving = asyncio.ensure_future(self._behaviour(request)(request, writer))
            hung_up = asyncio.ensure_future(reader.read())
            await asyncio.wait({behaving, hung_up}, return_when=asyncio.FIRST_COMPLETED)
            for one in (behaving, hung_up):
                one.cancel()
            await asyncio.gather(behaving, hung_up, return_exceptions=True)
        self.open -= 1
        with contextlib.suppress(ConnectionError):
            writer.close()

    def _behaviour(self, request: Request) -> Behaviour:
        script: Any = self._script
        if isinstance(script, Sequence) and not isinstance(script, str):
            script = script[min(self._step, len(script) - 1)]
            self._step += 1
        while callable(script) and not asyncio.iscoroutinefunction(script):
            script = script(request)
        return script if callable(script) else says(script)


async def _read(reader: asyncio.StreamReader) -> Request:
    top, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Request(top.split(" ")[1], headers, json.loads(body or b"{}"))


def _events(text: str, finish: str | None, pieces: int, refusal: str | None, usage: Any) -> list[bytes]:
    size = max(1, -(-len(text) // pieces))
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": text[start : start + size]} for start in range(0, len(text), size)]
    deltas += [{"refusal": refusal}] if refusal else []
    chunks = [_chunk([{"index": 0, "delta": delta, "finish_reason": None}]) for delta in deltas]
    if finish is not None:
        chunks.append(_chunk([{"index": 0, "delta": {}, "finish_reason": finish}]))
    if usage is not None:
        chunks.append(_chunk([], usage))
    return [b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks] + [b"data: [DONE]\n\n"]


def _chunk(choices: list[Any], usage: Any = None) -> dict[str, Any]:
    return _completion("chat.completion.chunk", choices, usage)


def _completion(kind: str, choices: list[Any], usage: Any) -> dict[str, Any]:
    return {"id": "c-1", "object": kind, "created": 1, "model": "test", "choices": choices, "usage": usage}


def _written(text: str | Mapping[str, Any] | BaseModel) -> str:
    if isinstance(text, BaseModel):
        return text.model_dump_json()
    return text if isinstance(text, str) else json.dumps(text)


async def _send(writer: asyncio.StreamWriter, data: bytes) -> None:
    writer.write(data)
    await writer.drain()
