/** The program that shows the text of a PDF: it runs as the caller, for the file is anybody's, and its reader is large. */
import * as Fs from "node:fs"
import * as Url from "node:url"
import type { Program } from "../../../command/CommandHandler.js"
import * as Attempt from "../../../domain/Attempt.js"
import * as Range from "./Read.range.js"

/** The reader's file: beside the bundle, else in the library; undefined in a bundle of another program. */
const script = Attempt.orUndefined(() =>
  ["./pdf.mjs", "../../../bin/pdf.mjs"]
    .map((path) => Url.fileURLToPath(new URL(path, import.meta.url)))
    .find((path) => Fs.existsSync(path))
)

/** Returns the program for a file by its name, where it is one; its range counts pages. */
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
