import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { inApps } from "../../support/toolset/App.js"

/** A PDF whose pages have these texts. */
const pdf = (...pages: ReadonlyArray<string>): string => {
  const kids = pages.map((_, page) => `${4 + 2 * page} 0 R`).join(" ")
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Count ${pages.length} /Kids [${kids}] >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ...pages.flatMap((text, page) => {
      const content = text === "" ? "" : `BT /F1 24 Tf 72 700 Td (${text}) Tj ET`
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents ${5 + 2 * page} 0 R >>`,
        `<< /Length ${content.length} >>\nstream\n${content}\nendstream`
      ]
    })
  ]
  let file = "%PDF-1.4\n"
  const offsets = objects.map((object, at) => {
    const offset = file.length
    file += `${at + 1} 0 obj\n${object}\nendobj\n`
    return `${String(offset).padStart(10, "0")} 00000 n \n`
  })
  const size = objects.length + 1
  const table = `xref\n0 ${size}\n0000000000 65535 f \n${offsets.join("")}`
  return `${file}${table}trailer << /Size ${size} /Root 1 0 R >>\nstartxref\n${file.length}\n%%EOF\n`
}

const page = (number: number, of: number, text: string) => `==> page ${number} of ${of} <==\n${text}\n`

/** `pdftotext` keeps the margin of a page, the library does not. */
const trimmed = (text: string | undefined) => text?.replace(/\n\s*(?=\S)/g, "\n")

describe("read of a PDF", () => {
  inApps("shows the text of its pages, all or some", ({ put, run }) =>
    Effect.gen(function* () {
      put("a.pdf", pdf("one", "two", "three"))
      put("-b c.PDF", pdf("alone"))
      const all = page(1, 3, "one") + page(2, 3, "two") + page(3, 3, "three")
      for (const [command, shown] of [
        ["read a.pdf", all],
        ["x=$(read a.pdf); printf '%s\\n' \"$x\"", all],
        ['(cd /; read "$OLDPWD/a.pdf:2")', page(2, 3, "two")],
        ["read a.pdf --offset 1 --limit 1", page(2, 3, "two")],
        ["read a.pdf:2-", page(2, 3, "two") + page(3, 3, "three")],
        ["read -- '-b c.PDF'", page(1, 1, "alone")]
      ] as const) {
        assert.strictEqual(trimmed((yield* run(`${command} 2>&1`)).stdout), shown, command)
      }
      put("pdftotext", '#!/bin/sh\nprintf "%s\\f" "$4"')
      const { stdout } = yield* run("chmod +x pdftotext; PATH=$PWD:$PATH; read -- '-b c.PDF'")
      assert.strictEqual(stdout, page(1, 1, "./-b c.PDF"))
    })
  )

  inApps("says what is wrong with it", ({ put, run }) =>
    Effect.gen(function* () {
      put("a.pdf", pdf("one"))
      put("scan.pdf", pdf("", ""))
      put("text.pdf", "text\n")
      put("broken.pdf", pdf("one").slice(0, 60))
      put("named", pdf("one"))
      for (const [file, why] of [
        ["a.pdf:3", "a.pdf: only 1 page"],
        ["scan.pdf", "scan.pdf: PDF document without text: its pages are images, as of a scan"],
        ["text.pdf", "text.pdf: no PDF document, in spite of its name"],
        ["broken.pdf", "broken.pdf: PDF document so broken that no text of it can be got: Invalid PDF structure."],
        ["none.pdf", "none.pdf: No such file or directory"]
      ] as const) {
        assert.deepStrictEqual(yield* run(`read ${file}`), { exitCode: 1, stdout: "", stderr: `read: ${why}\n` })
      }
      assert.match((yield* run("read text.pdf a.pdf")).stderr ?? "", /a\.pdf: PDF document, .*read a\.pdf/s)
    })
  )
})
