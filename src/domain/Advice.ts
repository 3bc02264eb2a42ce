/**
 * Advice on what to do next, as data: errors and results carry it, and `render` words it for each audience.
 *
 * @since 0.1.0
 */
import type * as ErrorFields from "./ErrorFields.js"

/**
 * A part of a line of advice: text, or a command to run.
 *
 * @since 0.1.0
 * @category models
 */
export type Part = typeof ErrorFields.Part.Type

/**
 * One line of advice, in its parts.
 *
 * @since 0.1.0
 * @category models
 */
export type Advice = typeof ErrorFields.Advice.Type

/**
 * Makes a command to run.
 *
 * @since 0.1.0
 * @category constructors
 */
export const run = (command: string): Part => ({ _tag: "Run", command })

/**
 * Makes a line of advice.
 *
 * @example
 * ```ts
 * import { Advice } from "synapse-shell"
 *
 * const advice = Advice.line`${Advice.run("ls src")} shows what there is.`
 *
 * Advice.render([advice], Advice.model) // Bash(command="ls src") shows what there is.
 * Advice.render([advice], Advice.person) // `ls src` shows what there is.
 * ```
 * @since 0.1.0
 * @category constructors
 */
export const line = (texts: TemplateStringsArray, ...parts: ReadonlyArray<Part | Advice>): Advice =>
  texts.flatMap((text, index) => [text, ...[parts[index] ?? []].flat()]).filter((part) => part !== "")

/**
 * The reader of advice, which decides how commands are written.
 *
 * @since 0.1.0
 * @category models
 */
export interface Audience {
  /** Names a command to run. */
  readonly run: (command: string) => string
}

/**
 * A model, which runs commands by calling the tool: `Bash(command="ls src")`.
 *
 * @since 0.1.0
 * @category audiences
 */
export const model: Audience = { run: (command) => `Bash(command=${JSON.stringify(command)})` }

/**
 * A person at a terminal: `` `ls src` ``.
 *
 * @since 0.1.0
 * @category audiences
 */
export const person: Audience = { run: (command) => `\`${command}\`` }

/**
 * Words advice for an audience, one line each.
 *
 * @since 0.1.0
 * @category destructors
 */
export const render = (advice: ReadonlyArray<Advice>, audience: Audience): string =>
  advice.map((parts) => parts.map((part) => renderPart(part, audience)).join("")).join("\n")

const renderPart = (part: Part, audience: Audience): string =>
  typeof part === "string" ? part : audience.run(part.command)
