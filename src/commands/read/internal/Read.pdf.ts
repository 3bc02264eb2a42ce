/**
 * The program that shows the text of a PDF. It runs as its own process with the caller's rights, because the file is
 * untrusted and the PDF library is large.
 */
import * as Fs from "node:fs"
import * as Url from "node:url"
import type { Program } from "../../../command/CommandHandler.js"
import * as Attempt from "../../../domain/Attempt.js"
import * as Range from "./Read.range.js"

/** The program's file, beside the bundle or in the library. Undefined if another program's bundle contains Synapse. */
const script = Attempt.orUndefined(() =>
  ["./pdf.mjs", "../../../bin/pdf.mjs"]
    .map((path) => Url.fileURLToPath(new URL(path, import.meta.url)))
    .find((path) => Fs.existsSync(path))
)

/** Returns the program for a file whose name ends in `.pdf`. Its range counts pages. */
export const reader = (given: Range.Range): Program | undefined => {
  const { limit, offset, path } = Range.parse(given.path) ?? given
  if (!/\.pdf$/i.test(path)) return undefined
  const last = limit === undefined ? undefined : offset + limit
  if (script !== undefined) {
    return {
      names: [process.execPath],
      args: [script, path, `${offset + 1}`, ...(last === undefined ? [] : [`${last}`])]
    }
  }
  const pages = ["-f", `${offset + 1}`, ...(last === undefined ? [] : ["-l", `${last}`])]
  return { names: ["pdftotext"], args: ["-layout", ...pages, path.replace(/^-/, "./-"), "-"] }
}
