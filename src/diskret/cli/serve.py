"""``diskret serve CONFIG.toml``, and ``diskret users`` for who may ask."""

from __future__ import annotations

import getpass
from collections.abc import Callable
from datetime import date, timedelta
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from diskret.cli.command import (
    DebugOption,
    Language,
    LanguageOption,
    TemplateOption,
    named,
    reported,
)
from diskret.cli.interrupt import ended_by_signals, run_until_told
from diskret.cli.show import terminal
from diskret.texts import percent, words_in

if TYPE_CHECKING:
    from diskret.serve.config import Service
    from diskret.serve.journal import Journal
    from diskret.serve.question import Family
    from diskret.serve.run import Opened
    from diskret.serve.users import Users
    from diskret.texts import Words

ConfigArgument = Annotated[
    Path, typer.Argument(metavar="CONFIG.toml", help="The configuration of a service.")
]
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Name of a user.")]
DaysOption = Annotated[int, typer.Option("--days", help="How long the token is valid.")]
OthersOption = Annotated[
    int | None,
    typer.Option("--others-days", help="How long the user's other tokens stay valid, at most."),
]


class Role(StrEnum):
    """What users may do."""

    reader = "reader"
    researcher = "researcher"
    checker = "checker"
    owner = "owner"
    admin = "admin"


def serve(
    config: Annotated[
        Path | None, typer.Argument(metavar="CONFIG.toml", help="The configuration.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Check configuration and records, and stop.")
    ] = False,
    history: Annotated[
        bool, typer.Option("--history", help="Say who asked what, and stop.")
    ] = False,
    roll: Annotated[
        bool,
        typer.Option("--roll", help="Move old entries of the journal into the archive, and stop."),
    ] = False,
    template: TemplateOption = False,
    language: LanguageOption = Language.en,
    debug: DebugOption = False,
) -> None:
    """Answer questions for tables in real time, protected by noise or suppression, over HTTP."""
    with reported(language, debug):
        if template:
            from diskret.jobs.template import template as job_template

            typer.echo(job_template("serve", language.value), nl=False)
            return

        from diskret.serve.run import open_service, server_of

        words = words_in(language, "serve")
        if history:
            _tell(named(config), words)
            return
        if roll:
            _roll(named(config), words)
            return
        opened = open_service(named(config))
        _show(opened, words, language)
        if check:
            return

        def ready(address: str) -> None:
            typer.echo(words.said("listening", address=address))

        with ended_by_signals(words["stopped"]), server_of(opened, ready) as server:
            run_until_told(server.serve())


def _show(opened: Opened, words: Words, language: Language) -> None:
    """What each data set resists, for whoever starts the service."""
    from diskret.serve import certainty_of_estimate

    console, data = terminal(), opened.service.data
    line = words.said("checked", title=opened.service.title, number=len(data))
    console.print(Text(line), soft_wrap=True)
    for one in data:
        if one.noise is None:
            line = words.said("worth_of_suppression", name=one.name, tables=one.questions)
            console.print(Text(line), soft_wrap=True)
            continue
        worth = opened.tables.resistance(one.name)
        sure, alone = (
            percent(worth.certainty(one.questions, twins), language) for twins in (True, False)
        )
        line = words.said("worth", name=one.name, tables=one.questions, sure=sure, alone=alone)
        console.print(Text(line), soft_wrap=True)
        for measure in one.measures:
            sure, after = (
                percent(certainty_of_estimate(measure.noise, 0.1, most), language)
                for most in (1, one.questions)
            )
            line = words.said(
                "worth_of_sums", name=one.name, measure=measure.name, sure=sure, after=after,
                tables=one.questions,
            )  # fmt: skip
            console.print(Text(line), soft_wrap=True)


def _tell(config: Path, words: Words) -> None:
    service, journal = _journal(config)
    for at, one in enumerate(journal.entries(service.archive)):
        if at == 0 and one.number > 1:
            number, folder = one.number - 1, service.archive
            terminal().print(Text(words.said("elsewhere", number=number, folder=folder)))
        when, happened = one.when[:16].replace("T", " "), words[f"event.{one.happened}"]
        about = "" if one.family is None else f"{_named(one.family)} "
        times = f" ({one.times})" if one.times > 1 else ""
        line = f"{one.number:>5}  {when}  {one.who}: {happened}{times}: {about}{one.why}"
        terminal().print(Text(line.rstrip(": ")), soft_wrap=True)


def _roll(config: Path, words: Words) -> None:
    service, journal = _journal(config)
    moved = journal.roll(service.archive, _user())
    typer.echo(words.said("rolled", number=moved, folder=service.archive))


def _journal(config: Path) -> tuple[Service, Journal]:
    from diskret.keys import SecretKeys
    from diskret.serve.config import read_config
    from diskret.serve.journal import Journal

    service = read_config(config)
    return service, Journal(service.ledger, SecretKeys.load(create=False))


def _user() -> str:
    """Who runs the command; "" where the system does not say."""
    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):
        return ""


def _named(family: Family) -> str:
    """A table in a line: its data set, variables, and the codes that count."""
    kept = "; ".join(f"{name} = {', '.join(codes)}" for name, codes in family.where)
    named = (
        f"{name}[{family.level(name)}]" if family.level(name) else name for name in family.variables
    )
    added = f"{family.measure}: " if family.measure else ""
    return f"{family.data}: {added}{', '.join(named)}" + (f" ({kept})" if kept else "")


users = typer.Typer(
    help="Users of a service: add, change, give and revoke tokens.", no_args_is_help=True
)


@users.command()
def add(
    config: ConfigArgument,
    name: NameArgument,
    role: Annotated[Role, typer.Option("--role", help="What the user may do.")] = Role.reader,
    data: Annotated[
        list[str] | None, typer.Option("--data", help="A data set to ask of; none: all.")
    ] = None,
    days: DaysOption = 365,
    language: LanguageOption = Language.en,
    debug: DebugOption = False,
) -> None:
    """Add a user, or change one, and print a token."""
    with reported(language, debug):
        from diskret.serve.users import User

        note, opened = _noting(config), _users(config, make=True)
        opened.add(User(name, role.value, tuple(data) if data else None))
        note(f"add {name}: {role.value}, {', '.join(data) if data else '*'}")
        _give(opened, name, days, words_in(language, "serve"))
        note(f"token {name}")


@users.command()
def token(
    config: ConfigArgument,
    name: NameArgument,
    days: DaysOption = 365,
    others: OthersOption = None,
    language: LanguageOption = Language.en,
    debug: DebugOption = False,
) -> None:
    """Print a new token of a user; the others stay valid, or end after some days."""
    with reported(language, debug):
        note = _noting(config)
        _give(_users(config), name, days, words_in(language, "serve"), others)
        note(f"token {name}")


@users.command()
def revoke(
    config: ConfigArgument,
    name: NameArgument,
    language: LanguageOption = Language.en,
    debug: DebugOption = False,
) -> None:
    """End all tokens of a user, at once."""
    with reported(language, debug):
        note = _noting(config)
        number = _users(config).revoke(name, date.today())
        note(f"revoke {name}")
        typer.echo(words_in(language, "serve").said("revoked", name=name, number=number))


@users.command("revoke-token")
def revoke_token(
    config: ConfigArgument,
    number: Annotated[
        str, typer.Argument(metavar="NUMBER", help="Of a token: the eight digits after dsk_.")
    ],
    language: LanguageOption = Language.en,
    debug: DebugOption = False,
) -> None:
    """End one token, at once."""
    with reported(language, debug):
        note = _noting(config)
        name = _users(config).revoke_token(number).name
        note(f"revoke a token of {name}")
        typer.echo(words_in(language, "serve").said("one revoked", name=name))


@users.command("list")
def list_users(
    config: ConfigArgument, language: LanguageOption = Language.en, debug: DebugOption = False
) -> None:
    """List users with their roles, data sets and tokens."""
    with reported(language, debug):
        words, opened = words_in(language, "serve"), _users(config)
        for name in opened.names:
            user = opened.user(name)
            data = words["everything"] if user.data is None else ", ".join(user.data)
            typer.echo(words.said("user", name=name, role=user.role, data=data))
            for one in opened.tokens(name, date.today()):
                until = one.until.isoformat()
                typer.echo(words.said("valid", number=one.number, until=until))
        if not opened.names:
            typer.echo(words["nobody"])


def _give(opened: Users, name: str, days: int, words: Words, others: int | None = None) -> None:
    today = date.today()
    until = today + timedelta(days)
    ends = None if others is None else today + timedelta(others)
    own = opened.new_token(name, until, others_until=ends)
    typer.echo(words.said("token", name=name, until=until.isoformat()), err=True)
    typer.echo(own)


def _noting(config: Path) -> Callable[[str], None]:
    """What enters into the journal how users were changed, and by whom."""
    who, (_, journal) = _user(), _journal(config)
    return lambda what: journal.note("users changed", who, what)


def _users(config: Path, make: bool = False) -> Users:
    from diskret.keys import SecretKeys
    from diskret.serve.config import read_config
    from diskret.serve.run import users_of
    from diskret.serve.users import make_users

    service = read_config(config)
    if make and service.users is not None and not service.users.exists():
        make_users(service.users)
    return users_of(service, SecretKeys.load(create=False))
