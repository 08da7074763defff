"""``phonemic vocab``: the symbols and their ids, and what is read as a syllable."""

from __future__ import annotations

import click

from phonemic.cli.common import json_option, language_option, print_json, print_table, say
from phonemic.inventory import vocabulary


@click.command()
@click.argument("syllable", required=False)
@language_option()
@json_option
def vocab(syllable: str | None, lang: str, as_json: bool) -> None:
    """Lists the vocabulary: ids, symbols and what they stand for.

    With SYLLABLE it lists what is read so, in the order of the ranks that the ids of --form hold: the characters of a
    pinyin syllable (shì, shi4; in all tones: shi), or the spellings of a Vietnamese one (hoà).
    """
    if syllable is not None:
        try:
            found = _characters(syllable) if lang == "zh" else _spellings(syllable)
        except ValueError as error:
            raise click.BadParameter(str(error), param_hint="SYLLABLE") from error
        if as_json:
            print_json([{"syllable": each, "written": written} for each, written in found.items()])
        else:
            space = "" if lang == "zh" else " "
            say("\n".join(f"{each}\t{space.join(written)}" for each, written in found.items()))
        return
    symbols = vocabulary(lang)
    rows = [(number, symbol, sorted(symbols.roles(number))) for number, symbol in enumerate(symbols)]
    if as_json:
        print_json([dict(zip(("id", "symbol", "roles"), row, strict=True)) for row in rows])
    else:
        print_table(("id", "symbol", "roles"), ((number, symbol, ", ".join(roles)) for number, symbol, roles in rows))


def _characters(pinyin: str) -> dict[str, list[str]]:
    """The characters of a syllable, of those in all tones where it has none.

    Raises:
        ValueError: not a pinyin syllable.
    """
    from phonemic import mandarin
    from phonemic.forms import characters_read

    triple = mandarin.factorize(pinyin)
    triples = [triple]
    if triple.tone == mandarin.TONES[5] and not pinyin[-1:].isdigit():
        triples = [triple._replace(tone=tone) for tone in mandarin.TONES.values()]
    found = {mandarin.spell(each): characters_read(mandarin.spell(each, numbers=True)) for each in triples}
    return {each: written for each, written in found.items() if written} or {pinyin: []}


def _spellings(syllable: str) -> dict[str, list[str]]:
    from phonemic.forms import spellings_read

    found = spellings_read(syllable)
    return {found[0]: found}
