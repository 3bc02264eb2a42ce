/** Recognizes a patch that was given instead of a command, and writes the command that applies it. */
import * as Quote from "../../bash/Quote.js"

/** Matches an unquoted patch envelope, perhaps after the name `apply_patch`. */
const envelope = /^\s*(?:apply_?patch\b[\s(]*)?(\*\*\* Begin Patch[ \t]*\r?\n[\s\S]*)$/
const envelopeEnd = /\n\*\*\* End Patch(?=\s*(?:EOF)?[\s)]*$)/
/** Matches the beginning of a unified diff, perhaps from git. */
const unified = /^\s*(?:diff --git [^\n]*\n(?:(?!--- )[^\n]*\n){0,8})?--- [^\n]+\n\+\+\+ [^\n]+\n@@ /

/** Returns the patch if a text is nothing else. `isWhole` is false if its end is missing. */
export const find = (text: string): { readonly patch: string; readonly isWhole: boolean } | undefined => {
  if (unified.test(text)) return { patch: text, isWhole: true }
  const patch = envelope.exec(text)?.[1]
  if (patch === undefined) return undefined
  const end = envelopeEnd.exec(patch)
  return end === null ? { patch, isWhole: false } : { patch: patch.slice(0, end.index + end[0].length), isWhole: true }
}

export const reason = "it is a patch, of which bash would run parts; give it to edit --patch in a here-document"

export const toCommand = (patch: string): string =>
  `edit --patch ${Quote.hereDocument(`${patch.replace(/^\s*\n|\s+$/g, "")}\n`)}`

/** Matches `apply_patch` before its here-document. */
const named = /^(\s*(?:cd [^\n;&|]+&&\s*)?)apply_?patch(?=\s*<<)/

/** Replaces `apply_patch` in a script that gives it a patch. */
export const renamed = (script: string): string => script.replace(named, "$1edit --patch")
