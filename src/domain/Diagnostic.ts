/**
 * What is told beside a result, as data: to a model, to a person and to programs. Nobody reads it back out of a text.
 */
import * as Data from "effect/Data"
import * as Schema from "effect/Schema"
import type * as Advice from "./Advice.js"

/** An access that the sandbox's policy refused, and what can be done. Each text is one sentence or line. */
export const Denial = Schema.TaggedStruct("Denial", {
  /** The access: `writing /usr/x`. */
  what: Schema.String,
  /** The rule as it is named, and why it denies this. */
  rule: Schema.String,
  reason: Schema.String,
  /** False where the command was not run. */
  ran: Schema.Boolean,
  /** Whether the command ran: `The command was not run.` */
  happened: Schema.String,
  /** What else was denied. */
  also: Schema.optionalWith(Schema.String, { exact: true }),
  /** The command that does the rest without what was denied. */
  rest: Schema.optionalWith(Schema.String, { exact: true }),
  /** What would be allowed, and what to do next. */
  advice: Schema.Array(Schema.String),
  /** What to ask the user for: in full, and in a few words once the rule was explained. */
  request: Schema.optionalWith(Schema.Struct({ full: Schema.String, short: Schema.String }), { exact: true })
})

/** An access that the sandbox's policy refused, and what can be done. */
export type Denial = typeof Denial.Type

/** Something that is told beside a result. */
export type Diagnostic = Data.TaggedEnum<{
  /** What an exit code means, or what was meant: `no match`. */
  Remark: { readonly text: string }
  /** How to see the usage of what failed. */
  Hint: { readonly advice: Advice.Advice }
  /** What became of the shell (`shell`), what a user allowed after the command (`grant`), or what was denied in passing. */
  Notice: { readonly about: "shell" | "grant" | "denial"; readonly text: string }
  Denial: Omit<Denial, "_tag">
  /** The call that was probably meant by one that could not be run. */
  Correction: { readonly reason: string; readonly call: string | undefined }
}>

/** Makes a Diagnostic, and takes one apart with `$match`. */
export const Diagnostic = Data.taggedEnum<Diagnostic>()

/** Words a denial in full, for a reader who has heard of none. */
export const denialText = (denial: Denial): string => new ToldDenials().text(denial)

/** The denials that a model was told in a session: a rule is explained once, and each piece of advice is given once. */
export class ToldDenials {
  private readonly told = new Set<string>()

  /** Words a denial: in full the first time, and on one line once its rule was explained. */
  text(denial: Denial): string {
    const { advice, also, happened, ran, reason, request, rest, rule, what } = denial
    // One rule can deny for several reasons: a server's file that is not trusted is also not written.
    const isNew = this.isNew(`${rule}: ${reason}`)
    const start = `Blocked by the sandbox: ${what} (rule ${rule}`
    const asked = request !== undefined && this.isNew(request.full)
    if (!isNew) {
      const parts = [ran ? undefined : happened, also, rest, asked ? request.short : undefined]
      return [`${start}, explained before).`, ...parts].filter((part) => part !== undefined).join(" ")
    }
    const fresh = advice.filter((line) => this.isNew(line))
    return [`${start}: ${reason})`, happened, also, ...fresh, asked ? request.full : undefined, rest]
      .filter((part) => part !== undefined)
      .join("\n")
  }

  /** Forgets all, as the model does whose session begins anew. */
  forget(): void {
    this.told.clear()
  }

  private isNew(text: string): boolean {
    const isNew = !this.told.has(text)
    this.told.add(text)
    return isNew
  }
}
