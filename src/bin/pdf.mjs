// Prints the text of a PDF page by page (`read x.pdf`), with the caller's rights and in its sandbox.
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"

const [file = "", first = "1", last = "Infinity"] = process.argv.slice(2)

/**
 * Prints what is wrong with the file, and exits.
 *
 * @param {string} why
 */
const fail = (why) => {
  process.stderr.write(`read: ${file}: ${why}\n`)
  process.exit(1)
}

/** Returns the text of each page by `pdftotext`, or undefined if that is missing or fails. */
const fromProgram = () => {
  const args = ["-layout", "-enc", "UTF-8", file.replace(/^-/, "./-"), "-"]
  const { status, stdout } = spawnSync("pdftotext", args, { encoding: "utf8", maxBuffer: 2 ** 30 })
  return status === 0 ? stdout.split("\f").slice(0, -1) : undefined
}

const fromLibrary = async () => {
  const { extractText, getDocumentProxy } = await import("unpdf")
  const data = new Uint8Array(readFileSync(file))
  if (!Buffer.from(data.subarray(0, 1024)).includes("%PDF-")) fail("no PDF document, in spite of its name")
  return (await extractText(await getDocumentProxy(data, { isEvalSupported: false, verbosity: 0 }))).text
}

/** @param {unknown} error */
const reasonOf = (error) => {
  const { code, message, name } = /** @type {NodeJS.ErrnoException} */ (error)
  if (code === "ENOENT") return "No such file or directory"
  if (code === "EISDIR") return "Is a directory"
  if (code === "EACCES" || code === "EPERM") return "Permission denied"
  return name === "PasswordException"
    ? "PDF document, it needs a password"
    : `PDF document so broken that no text of it can be got: ${message}`
}

// The reader may stop early, as `head` does.
process.stdout.on("error", () => process.exit(1))

try {
  const pages = fromProgram() ?? (await fromLibrary())
  const shown = [...pages.entries()].slice(Number(first) - 1, Number(last))
  if (shown.length === 0) fail(`only ${pages.length} page${pages.length === 1 ? "" : "s"}`)
  if (shown.every(([, text]) => text.trim() === ""))
    fail("PDF document without text: its pages are images, as of a scan")
  for (const [at, text] of shown) process.stdout.write(`==> page ${at + 1} of ${pages.length} <==\n${text.trimEnd()}\n`)
} catch (error) {
  fail(reasonOf(error))
}
