/** Reads the arguments of another agent's tool, by names that agents write differently. */
import * as Predicate from "effect/Predicate"
import * as Quote from "../../bash/Quote.js"
import * as Attempt from "../../domain/Attempt.js"

/** The most characters of a value that is shown again: a model knows what it has written. */
const longest = 2000

/** Parses JSON; undefined where a text is none. */
export const parseJson = (text: string): unknown => Attempt.orUndefined(() => JSON.parse(text))

/** Matches what no command line can hold. */
export const unwritable = /[\0\ud800-\udfff]/u

/**
 * Tests whether a text can stand in the command that is shown. Where it can't, the placeholder does, `<content>`, which
 * bash refuses to run.
 */
export const isShown = (text: string): boolean => text.length <= longest && !unwritable.test(text)

/** The arguments of a call; a name stands for all spellings of it: `filepath` for `file_path` and `filePath`. */
export class Given {
  private readonly values: ReadonlyMap<string, unknown>

  constructor(
    /** The arguments: the object, or text that is not JSON. */
    readonly params: unknown
  ) {
    const entries = Predicate.isReadonlyRecord(params) ? Object.entries(params) : []
    this.values = new Map(entries.map(([name, value]) => [name.toLowerCase().replace(/[_-]/g, ""), value]))
  }

  /** Returns the value of the first of the names that is given. */
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

  /** Returns the objects of a list. */
  objects(name: string): ReadonlyArray<Given> {
    const value = this.any(name)
    return Array.isArray(value) ? value.filter(Predicate.isReadonlyRecord).map((each) => new Given(each)) : []
  }

  /** Writes a text as a word, or the placeholder where there is none that can be shown. */
  word(placeholder: string, ...names: ReadonlyArray<string>): string {
    const text = this.text(...names)
    return text === undefined || !isShown(text) ? placeholder : Quote.word(text)
  }

  /** Writes the path of a file as a word that is no option. */
  path(placeholder: string, ...names: ReadonlyArray<string>): string {
    const path = this.text(...names)
    if (path === undefined || path === "" || !isShown(path)) return placeholder
    // In quotes, the tilde is no home directory.
    if (/^~\/./.test(path)) return `~/${Quote.word(path.slice(2))}`
    return Quote.word(path.startsWith("-") ? `./${path}` : path)
  }
}
