/** Reads the arguments of another agent's tool, whose names agents spell differently. */
import * as Predicate from "effect/Predicate"
import * as Quote from "../../bash/Quote.js"
import * as Attempt from "../../domain/Attempt.js"

/** The longest value, in characters, that a correction repeats. The model knows what it wrote. */
const longest = 2000

/** Parses JSON, or returns undefined. */
export const parseJson = (text: string): unknown => Attempt.orUndefined(() => JSON.parse(text))

/** Matches characters that a command line can't contain. */
export const unwritable = /[\0\ud800-\udfff]/u

/**
 * Tests whether a correction can show a text. Otherwise it shows a placeholder such as `<content>`, which bash refuses
 * to run.
 */
export const isShown = (text: string): boolean => text.length <= longest && !unwritable.test(text)

/** The arguments of a call. One name stands for all its spellings: `filepath` for `file_path` and `filePath`. */
export class Given {
  private readonly values: ReadonlyMap<string, unknown>

  constructor(
    /** The arguments, or their text if it is not JSON. */
    readonly params: unknown
  ) {
    const entries = Predicate.isReadonlyRecord(params) ? Object.entries(params) : []
    this.values = new Map(entries.map(([name, value]) => [name.toLowerCase().replace(/[_-]/g, ""), value]))
  }

  /** Returns the first named value that is given. */
  any(...names: ReadonlyArray<string>): unknown {
    return names.map((name) => this.values.get(name)).find((value) => value !== undefined && value !== null)
  }

  text(...names: ReadonlyArray<string>): string | undefined {
    const value = this.any(...names)
    return typeof value === "string" ? value : undefined
  }

  number(...names: ReadonlyArray<string>): number | undefined {
    const value = this.any(...names)
    const number = typeof value === "string" && /^\d{1,10}$/.test(value) ? Number(value) : value
    return typeof number === "number" && Number.isSafeInteger(number) && number >= 0 ? number : undefined
  }

  flag(...names: ReadonlyArray<string>): boolean {
    return /^true$/i.test(String(this.any(...names)))
  }

  objects(name: string): ReadonlyArray<Given> {
    const value = this.any(name)
    return Array.isArray(value) ? value.filter(Predicate.isReadonlyRecord).map((each) => new Given(each)) : []
  }

  /** Writes a text as a shell word, or the placeholder if it can't be shown. */
  word(placeholder: string, ...names: ReadonlyArray<string>): string {
    const text = this.text(...names)
    return text === undefined || !isShown(text) ? placeholder : Quote.word(text)
  }

  /** Writes a file's path as a shell word that can't be read as an option. */
  path(placeholder: string, ...names: ReadonlyArray<string>): string {
    const path = this.text(...names)
    if (path === undefined || path === "" || !isShown(path)) return placeholder
    // Quoted, the tilde would not mean the home directory.
    if (/^~\/./.test(path)) return `~/${Quote.word(path.slice(2))}`
    return Quote.word(path.startsWith("-") ? `./${path}` : path)
  }
}
