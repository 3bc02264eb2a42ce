/** Tells a patch that was given in the place of a command, and writes the command that applies it. */
import * as Quote from "../../bash/Quote.js"

/** Matches an envelope without quotes, perhaps behind the name of the tool that takes one. */
const envelope = /^\s*(?:apply_?patch\b[\s(]*)?(\*\*\* Begin Patch[ \t]*\r?\n[\s\S]*)$/
const envelopeEnd = /\n\*\*\* End Patch(?=\s*(?:EOF)?[\s)]*$)/
/** Matches the beginning of a unified diff, perhaps of git's. */
const unified = /^\s*(?:diff --git [^\n]*\n(?:(?!--- )[^\n]*\n){0,8})?--- [^\n]+\n\+\+\+ [^\n]+\n@@ /

/**
 * Returns the patch that a text is and nothing else, or its beginning where it has no end; undefined where it is none.
 */
export const find = (text: string): { readonly patch: string; readonly isWhole: boolean } | undefined => {
  if (unified.test(text)) return { patch: text, isWhole: true }
  const patch = envelope.exec(text)?.[1]
  if (patch === undefined) return undefined
  const end = envelopeEnd.exec(patch)
  return end === null ? { patch, isWhole: false } : { patch: patch.slice(0, end.index + end[0].length), isWhole: true }
}

/** Says why a patch is not run. */
export const reason = "it is a patch, of which bash would run parts; give it to edit --patch in a here-document"

/** Writes the command that applies a patch. */
export const toCommand = (patch: string): string =>
  `edit --patch ${Quote.hereDocument(`${patch.replace(/^\s*\n|\s+$/g, "")}\n`)}`

/** Matches the tool's name before its here-document. */
const named = /^(\s*(?:cd [^\n;&|]+&&\s*)?)apply_?patch(?=\s*<<)/

/** Puts our name in the place of another agent's, where a script gives a patch to that. */
export const renamed = (script: string): string => script.replace(named, "$1edit --patch")
