/**
 * Finds the rules that paths fall under: a rule covers what it names, and all that lies below.
 *
 * @since 0.1.0
 */
import * as PathGlob from "./PathGlob.js"
import type { Rule } from "./SandboxPolicy.js"

/**
 * Rules, compiled once.
 *
 * @since 0.1.0
 * @category models
 */
export interface RuleMatcher {
  /** Finds the first rule, in the order given, that an absolute path without `.`, `..` and doubled slashes falls under. */
  readonly find: (path: string) => Rule | undefined
  /**
   * Finds the first glob that an entry of a directory falls under, for a walk that goes no deeper where there is one. Costs next
   * to nothing for an entry under none. The directory is absolute, without a slash at its end but for the root's.
   */
  readonly findEntry: (directory: string, name: string) => Rule | undefined
  /** Whether a glob that holds in every directory (a double star and a name) matches the name. */
  readonly matchName: (name: string) => boolean
  /** Whether there are other globs, which take an entry's whole path to match. */
  readonly hasPathGlobs: boolean
}

/** What a glob that holds in every directory says of names; undefined for one that takes the whole path. */
const nameOf = (pattern: string): string | undefined => {
  const name = pattern.startsWith("/**/") ? pattern.slice("/**/".length) : undefined
  return name === undefined || name.includes("/") || /^\*+$/.test(name) ? undefined : name
}

const never = /(?!)/

/** A test for names. Those without wildcards, which most are, need no regular expression. */
const makeMatchName = (patterns: ReadonlyArray<string>, ignoreCase: boolean): ((name: string) => boolean) => {
  const fold = ignoreCase ? (name: string) => name.toLowerCase() : (name: string) => name
  const plain = patterns.filter((pattern) => !PathGlob.hasWildcard(pattern))
  const wild = patterns.filter((pattern) => PathGlob.hasWildcard(pattern))
  const names = new Set(plain.map((pattern) => fold(PathGlob.unescape(pattern))))
  const expression = wild.length === 0 ? never : PathGlob.compileNames(wild, ignoreCase)
  return (name) => names.has(fold(name)) || expression.test(name)
}

/** The path and all that it lies in, from the longest. */
function* upwards(path: string): Generator<string> {
  for (let end = path.length; end > 0; end = path.lastIndexOf("/", end - 1)) yield path.slice(0, end)
  yield "/"
}

const placesOf = ({ path, real }: Rule): ReadonlyArray<string> => (real === undefined ? [path] : [path, real])

/**
 * Compiles rules. Case counts, except on macOS, whose file systems do not tell cases apart.
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
  const globs: Array<{ readonly at: number; readonly expression: RegExp }> = []
  const everywhere: Array<string> = []
  const others: Array<string> = []
  rules.forEach((rule, at) => {
    if (rule.kind === "glob") {
      globs.push({ at, expression: PathGlob.compile(placesOf(rule), ignoreCase) })
      for (const pattern of placesOf(rule)) {
        const name = nameOf(pattern)
        if (name === undefined) others.push(pattern)
        else everywhere.push(name)
      }
    } else {
      for (const path of placesOf(rule).map(fold)) if (!paths.has(path)) paths.set(path, at)
    }
  })
  const matchName = makeMatchName(everywhere, ignoreCase)
  const matchPath = others.length === 0 ? never : PathGlob.compile(others, ignoreCase)

  const firstGlob = (path: string): number => globs.find(({ expression }) => expression.test(path))?.at ?? rules.length
  const isUnderGlob = (path: string): boolean => matchPath.test(path) || path.split("/").some(matchName)

  return {
    find: (path) => {
      let first = rules.length
      if (paths.size > 0) {
        for (const place of upwards(fold(path))) first = Math.min(first, paths.get(place) ?? first)
      }
      if (isUnderGlob(path)) first = Math.min(first, firstGlob(path))
      return rules[first]
    },
    findEntry: (directory, name) => {
      if (others.length === 0 && !matchName(name)) return undefined
      const path = `${directory === "/" ? "" : directory}/${name}`
      return matchName(name) || matchPath.test(path) ? rules[firstGlob(path)] : undefined
    },
    matchName,
    hasPathGlobs: others.length > 0
  }
}
