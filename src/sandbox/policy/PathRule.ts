/**
 * Finds the rule that covers a path. A rule covers its path and everything below it. A built-in pattern covers files
 * only: a directory named `.env` holds a virtual environment, not a secret.
 *
 * @since 0.1.0
 */
import * as GlobalValue from "effect/GlobalValue"
import * as PathGlob from "./PathGlob.js"
import type { Rule } from "./SandboxPolicy.js"

/**
 * Compiled rules, to be matched against many paths.
 *
 * @since 0.1.0
 * @category models
 */
export interface RuleMatcher {
  /**
   * Returns the first rule that covers a path, in the given order. The path is absolute, without `.`, `..` or doubled
   * slashes.
   */
  readonly find: (path: string) => Rule | undefined
  /**
   * Returns the first glob that covers a directory's entry, for a walk that stops there. It is nearly free for entries
   * that no glob covers. The directory is absolute, with no trailing slash unless it is the root.
   */
  readonly findEntry: (directory: string, name: string, isDirectory: boolean) => Rule | undefined
}

/**
 * Returns the name pattern of a glob that applies in every directory; undefined for a glob that needs the whole path.
 */
const nameOf = (pattern: string): string | undefined => {
  const name = pattern.startsWith("/**/") ? pattern.slice("/**/".length) : undefined
  return name === undefined || name.includes("/") || /^\*+$/.test(name) ? undefined : name
}

/** Compiles an expression on first use, because most matchers never need most of theirs. */
class LazyExpression {
  private expression: RegExp | undefined
  constructor(private readonly compile: () => RegExp) {}
  test(text: string): boolean {
    this.expression ??= this.compile()
    return this.expression.test(text)
  }
}

/** Makes a test for names. Most patterns have no wildcards and need no regular expression. */
const makeMatchName = (patterns: ReadonlyArray<string>, ignoreCase: boolean): ((name: string) => boolean) => {
  const fold = ignoreCase ? (name: string) => name.toLowerCase() : (name: string) => name
  const names = new Set<string>()
  const wild: Array<string> = []
  for (const pattern of patterns) {
    if (PathGlob.hasWildcard(pattern)) wild.push(pattern)
    else names.add(fold(PathGlob.unescape(pattern)))
  }
  const expression = new LazyExpression(() => PathGlob.compileNames(wild, ignoreCase))
  return (name) => names.has(fold(name)) || (wild.length > 0 && expression.test(name))
}

/** Yields a path and its ancestors, longest first. */
function* upwards(path: string): Generator<string> {
  for (let end = path.length; end > 0; end = path.lastIndexOf("/", end - 1)) yield path.slice(0, end)
  yield "/"
}

/**
 * Tests whether a rule covers files but not directories.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isForFiles = ({ kind, source }: Rule): boolean => kind === "glob" && source === "default"

const placesOf = ({ path, real }: Rule): ReadonlyArray<string> => (real === undefined ? [path] : [path, real])

/**
 * Compiles rules. Matching is case-sensitive, except on macOS, whose file systems ignore case, and for built-in
 * patterns, since other file systems may ignore it too.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  rules: ReadonlyArray<Rule>,
  { ignoreCase = process.platform === "darwin" }: { readonly ignoreCase?: boolean } = {}
): RuleMatcher => {
  const fold = ignoreCase ? (path: string) => path.toLowerCase() : (path: string) => path
  const paths = new Map<string, number>()
  const globs: Array<{ readonly at: number; readonly expression: LazyExpression; readonly isForFiles: boolean }> = []
  const everywhere: Array<string> = []
  const builtIn: Array<string> = []
  const others: Array<string> = []
  rules.forEach((rule, at) => {
    if (rule.kind === "glob") {
      const files = isForFiles(rule)
      const expression = new LazyExpression(() => PathGlob.compile(placesOf(rule), ignoreCase || files, files))
      globs.push({ at, expression, isForFiles: files })
      for (const pattern of placesOf(rule)) {
        const name = nameOf(pattern)
        if (name === undefined) others.push(pattern)
        else if (files) builtIn.push(name)
        else everywhere.push(name)
      }
    } else {
      for (const path of placesOf(rule).map(fold)) if (!paths.has(path)) paths.set(path, at)
    }
  })
  const matchOther = makeMatchName(everywhere, ignoreCase)
  const matchBuiltIn = makeMatchName(builtIn, true)
  const matchName = (name: string) => matchOther(name) || matchBuiltIn(name)
  const everyPath = new LazyExpression(() => PathGlob.compile(others, ignoreCase))
  const matchPath = (path: string) => others.length > 0 && everyPath.test(path)

  const firstGlob = (path: string, isDirectory = false): number =>
    globs.find((glob) => !(isDirectory && glob.isForFiles) && glob.expression.test(path))?.at ?? rules.length
  const isUnderGlob = (path: string): boolean => matchPath(path) || path.split("/").some(matchName)

  return {
    find: (path) => {
      let first = rules.length
      if (paths.size > 0) {
        for (const place of upwards(fold(path))) first = Math.min(first, paths.get(place) ?? first)
      }
      if (isUnderGlob(path)) first = Math.min(first, firstGlob(path))
      return rules[first]
    },
    findEntry: (directory, name, isDirectory) => {
      if (others.length === 0 && !matchName(name)) return undefined
      const path = `${directory === "/" ? "" : directory}/${name}`
      return matchName(name) || matchPath(path) ? rules[firstGlob(path, isDirectory)] : undefined
    }
  }
}

/**
 * Compiled rules with their text, which is the same for equal rules.
 *
 * @since 0.1.0
 * @category models
 */
export interface Compiled extends RuleMatcher {
  readonly text: string
}

const compiled = GlobalValue.globalValue("synapse/PathRule", () => new WeakMap<ReadonlyArray<Rule>, Compiled>())

/**
 * Compiles rules, once for each list: a session searches for the same ones again and again.
 *
 * @since 0.1.0
 * @category constructors
 */
export const of = (rules: ReadonlyArray<Rule>): Compiled => {
  const known = compiled.get(rules) ?? { ...make(rules), text: JSON.stringify(rules) }
  compiled.set(rules, known)
  return known
}
