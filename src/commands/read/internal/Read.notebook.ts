/** Shows a Jupyter notebook as text: its cells with shortened outputs, and its images. */
import * as Predicate from "effect/Predicate"
import * as Attempt from "../../../domain/Attempt.js"

export interface Notebook {
  readonly text: string
  readonly images: ReadonlyArray<{ readonly mediaType: string; readonly base64: string }>
}

/** The most lines and characters shown of an output, and the most images. */
const mostLines = 30
const mostCharacters = 3000
const mostImages = 10

type Fields = { readonly [key: string]: unknown }
const fieldsOf = (value: unknown): Fields => (Predicate.isReadonlyRecord(value) ? value : {})
const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])
/** Notebooks hold a text as one string or as a list of lines. */
const textOf = (value: unknown): string =>
  Array.isArray(value) ? value.join("") : Predicate.isString(value) ? value : ""

const withoutColours = (text: string): string => text.replace(/\x1b\[[\d;]*m/g, "")

const inShort = (text: string): string => {
  const lines = withoutColours(text).trimEnd().split("\n")
  const shown = lines.slice(0, mostLines).join("\n").slice(0, mostCharacters)
  const left = lines.length - shown.split("\n").length
  return left > 0 ? `${shown}\n… ${left} more lines` : shown
}

/** Reads a notebook, or returns undefined if the JSON is not one. */
export const parse = (json: string): Notebook | undefined => {
  const notebook = fieldsOf(Attempt.orUndefined((): unknown => JSON.parse(json)))
  if (!Array.isArray(notebook["cells"])) return undefined
  const images: Array<Notebook["images"][number]> = []
  const outputOf = (output: Fields): string => {
    const data = fieldsOf(output["data"])
    const [mediaType = ""] = Object.keys(data).filter((type) => /^image\/(?:png|jpeg|gif|webp)$/.test(type))
    if (mediaType !== "" && images.length < mostImages)
      images.push({ mediaType, base64: textOf(data[mediaType]).replace(/\s/g, "") })
    const image = mediaType === "" ? "" : `(${mediaType})\n`
    const trace = listOf(output["traceback"]).filter(Predicate.isString).join("\n")
    const error = output["output_type"] === "error" ? trace || `${output["ename"]}: ${output["evalue"]}` : ""
    return image + inShort(`${error}${textOf(output["text"])}${textOf(data["text/plain"])}`)
  }
  const cells = notebook["cells"].map(fieldsOf).map((cell, at) => {
    const { cell_type: type, execution_count: count, outputs, source } = cell
    const head = `--- cell ${at + 1}: ${type}${Predicate.isNumber(count) ? ` [${count}]` : ""} ---`
    const shown = listOf(outputs).map((output) => `--- output ---\n${outputOf(fieldsOf(output))}`)
    return [head, textOf(source).trimEnd(), ...shown].join("\n")
  })
  return { text: `${cells.join("\n")}\n`, images }
}
