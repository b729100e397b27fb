"""The query page of a service: it asks what any client may ask, with the reader's own token."""

from __future__ import annotations

from typing import get_args

from fastapi import FastAPI, Response
from starlette.responses import JSONResponse

from diskret.publish.pages.served import page_parts
from diskret.serve.exports import Form
from diskret.serve.web.problems import Unanswered
from diskret.texts import LANGUAGES, words_in

#: Only its own parts, and no frame around it; what it shows came from the service.
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def add_page(app: FastAPI, title: str) -> None:
    """Serve the page at ``/``; it holds nothing of anybody's, so it asks for no token.

    title: of the service.
    """
    known = page_parts("diskret.serve.web")

    def part(name: str) -> Response:
        """A part of the query page."""
        if name not in known:
            raise Unanswered("there is nothing at this path", 404)
        content, kind = known[name]
        return Response(content.read_bytes(), 200, _HEADERS, kind)

    def start() -> Response:
        """The query page."""
        return part("index.html")

    def words(language: str) -> Response:
        """What the query page says."""
        if language not in LANGUAGES:
            raise Unanswered("there is nothing at this path", 404)
        found = words_in(language, "query")
        said = {key: found[key] for key in found}
        forms = [form for form in get_args(Form) if form != "json"]
        told = {"language": language, "title": title, "forms": forms, "words": said}
        return JSONResponse(told, 200, _HEADERS)

    app.add_api_route("/", start, include_in_schema=False)
    app.add_api_route("/page/words/{language}", words, include_in_schema=False)
    app.add_api_route("/page/{name}", part, include_in_schema=False)
