/** Finds the characters of a text that nobody sees, which can hide words or change their order. */

/** The scripts in which ZWJ and ZWNJ shape letters. */
const shaped =
  "[\\p{sc=Arab}\\p{sc=Syrc}\\p{sc=Mong}\\p{sc=Deva}\\p{sc=Beng}\\p{sc=Guru}\\p{sc=Gujr}\\p{sc=Orya}\\p{sc=Taml}\\p{sc=Telu}\\p{sc=Knda}\\p{sc=Mlym}\\p{sc=Sinh}\\p{sc=Khmr}\\p{sc=Mymr}]"

/** Matches invisible characters that are a part of visible text; tried before the others: parts of emoji, of flags, and of some scripts. */
const seen = [
  "(?<=[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\ufe0f])\\u200d(?=\\p{Extended_Pictographic})",
  `(?<=${shaped})[\\u200c\\u200d](?=${shaped})`,
  "(?<=[^\\p{DI}\\p{Z}\\p{Cc}])[\\ufe00-\\ufe0f]",
  "(?<=\\u{1f3f4})[\\u{e0061}-\\u{e007a}]{3,5}\\u{e007f}",
  "(?<=\\p{sc=Han})[\\u{e0100}-\\u{e01ef}]"
].join("|")

const any = /[\p{DI}\p{Zl}\p{Zp}\p{Bidi_Control}\ufff9-\ufffb]/u

/**
 * Replaces the invisible characters of a text; returns the text itself where it has none. A joiner in an emoji is none,
 * nor one between letters that it joins. Control characters stay.
 */
export const replace = (text: string, by: (character: string) => string): string => {
  // A text of ASCII has none.
  if (!/[^\0-\x7f]/.test(text) || !any.test(text)) return text
  // To compile it takes a millisecond, and few texts have such characters.
  const invisible = new RegExp(`(${seen})|[\\p{DI}\\p{Zl}\\p{Zp}\\p{Bidi_Control}\\ufff9-\\ufffb]`, "gu")
  return text.replace(invisible, (character: string, isSeen: string | undefined) =>
    isSeen === undefined ? by(character) : character
  )
}
