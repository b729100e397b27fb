"""``diskret sign``: the office's key pairs, and releases signed with them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from diskret.cli.command import DebugOption, Language, LanguageOption, reported
from diskret.cli.show import terminal
from diskret.texts import words_in

if TYPE_CHECKING:
    from diskret.publish.signing_keys import PublicKey

sign = typer.Typer(
    help="Sign releases, so that anyone can tell who published them: make keys, rotate and revoke "
    "them, sign.",
    no_args_is_help=True,
)

KeysOption = Annotated[
    Path | None,
    typer.Option(
        "--keys",
        metavar="FOLDER",
        envvar="DISKRET_SIGNING",
        show_envvar=True,
        help="The folder of the office's key pairs; default: signing, beside its key file.",
    ),
]


@sign.command()
def create(
    office: Annotated[str, typer.Option(help="Name of the office, as signatures show it.")],
    folder: KeysOption = None,
    language: LanguageOption = Language.en,
    debug: DebugOption = False,
) -> None:
    """Make the first key pair, and the list of public keys that belongs on the web page.

    The variable DISKRET_SIGNING_PASSWORD holds a password that encrypts private keys.
    """
    with reported(language, debug):
        from diskret.publish.signing_keys import KEYS, create_keys, signing_folder

        create_keys(office, folder)
        list_ = signing_folder(folder) / KEYS
        typer.echo(words_in(language, "commands").said("signing_created", path=list_))


@sign.command()
def rotate(
    folder: KeysOption = None, language: LanguageOption = Language.en, debug: DebugOption = False
) -> None:
    """Take a new key into use; what the one before has signed until now still counts."""
    with reported(language, debug):
        from diskret.publish.signing_keys import KEYS, rotate_keys, signing_folder

        rotate_keys(folder)
        list_ = signing_folder(folder) / KEYS
        typer.echo(words_in(language, "commands").said("signing_rotated", path=list_))


@sign.command()
def revoke(
    key: Annotated[str, typer.Argument(metavar="KEY", help="The first digits of a key.")],
    why: Annotated[str, typer.Option(help="The reason.")],
    folder: KeysOption = None,
    language: LanguageOption = Language.en,
    debug: DebugOption = False,
) -> None:
    """Note that nothing counts that a key has signed, because somebody else may have it."""
    with reported(language, debug):
        from diskret.publish.signing_keys import KEYS, revoke_key, signing_folder

        revoke_key(key, why, folder)
        list_ = signing_folder(folder) / KEYS
        typer.echo(words_in(language, "commands").said("signing_revoked", path=list_))


@sign.command("keys")
def list_keys(
    folder: KeysOption = None, language: LanguageOption = Language.en, debug: DebugOption = False
) -> None:
    """List all public keys and when each was in use."""
    with reported(language, debug):
        from diskret.publish.signing_keys import KEYS, read_keys, signing_folder

        known = read_keys(signing_folder(folder) / KEYS)
        texts, console = words_in(language, "commands"), terminal()
        shown = Table(*texts["signing_columns"].split(", "), title=known.office)
        for one in known.keys:
            shown.add_row(
                *(Text(cell) for cell in (one.key[:16], one.since, _state(one, language)))
            )
        console.print(shown)


@sign.command()
def release(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder that diskret wrote.")],
    keys: KeysOption = None,
    language: LanguageOption = Language.en,
    debug: DebugOption = False,
) -> None:
    """Sign the public files of a release as they are now; verify them before."""
    with reported(language, debug):
        from diskret.publish.digests import SIGNED
        from diskret.publish.signature import sign as sign_release

        done = sign_release(folder, keys)
        texts = words_in(language, "commands")
        said = {"office": done.office, "number": done.key[:16], "file": SIGNED, "time": done.time}
        typer.secho(texts.said("signing_done", files=len(done.files), **said), fg="green")


def _state(key: PublicKey, language: Language) -> str:
    texts = words_in(language, "commands")
    if key.revoked is not None:
        return texts.said("signing_was_revoked", when=key.revoked, why=key.why)
    return texts["signing_in_use"] if key.until is None else key.until
