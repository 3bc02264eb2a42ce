/** The usage and the limits of a run. */
import type { CommandAccount } from "../../domain/CommandListener.js"
import * as UntrustedText from "../../domain/UntrustedText.js"
import type { Model, Price } from "../model/ModelProvider.js"
import type { Limits } from "./AgentLoop.js"

/** Tokens as counted by the provider, and their cost. */
export interface TokenUsage {
  /** All tokens sent, including cached ones. */
  readonly input: number
  readonly output: number
  /** The part of `input` that came from the provider's cache. */
  readonly cached: number
  /** In the currency of the settings' prices; undefined for a model without a price. */
  readonly cost: number | undefined
}

export const none: TokenUsage = { input: 0, output: 0, cached: 0, cost: undefined }

export const add = (a: TokenUsage, b: TokenUsage): TokenUsage => ({
  input: a.input + b.input,
  output: a.output + b.output,
  cached: a.cached + b.cached,
  cost: a.cost === undefined ? b.cost : a.cost + (b.cost ?? 0)
})

/** Adds the cost to token counts. */
export const of = (
  { cached, input, output }: Pick<TokenUsage, "cached" | "input" | "output">,
  price: Price | undefined
): TokenUsage => ({
  input,
  output,
  cached,
  cost:
    price === undefined
      ? undefined
      : ((input - cached) * price.input + cached * (price.cached ?? price.input) + output * price.output) / 1_000_000
})

interface Reached<Ending extends "turns" | "tokens" | "budget"> {
  readonly ending: Ending
  readonly reason: string
}

/** The account of a run. Usage also counts for the caller's account, whose limits apply too. */
export class RunAccount implements CommandAccount {
  total: TokenUsage = none

  constructor(
    private readonly limits: Limits,
    private readonly caller: CommandAccount | undefined
  ) {}

  get hasBudget(): boolean {
    return this.limits.budget !== undefined || this.caller?.hasBudget === true
  }

  readonly add = (usage: TokenUsage): void => {
    this.total = add(this.total, usage)
    this.caller?.add(usage)
  }

  readonly reached = (): Reached<"tokens" | "budget"> | undefined => {
    const { budget, maxTokens } = this.limits
    const { cost = 0, input, output } = this.total
    const tokens = input + output
    // A limit of NaN counts as reached.
    if (maxTokens !== undefined && !(tokens < maxTokens)) {
      return { ending: "tokens", reason: `The limit of ${maxTokens} tokens is reached: ${tokens} were used.` }
    }
    if (budget !== undefined && !(cost < budget)) {
      return { ending: "budget", reason: `The budget of ${budget} is used up: it cost ${Number(cost.toFixed(6))}.` }
    }
    return this.caller?.reached()
  }
}

/** Returns the turn limit if `turns` requests have reached it. */
export const ofTurns = ({ maxTurns }: Pick<Limits, "maxTurns">, turns: number): Reached<"turns"> | undefined =>
  turns < maxTurns
    ? undefined
    : { ending: "turns", reason: `The limit of ${maxTurns} ${maxTurns === 1 ? "turn" : "turns"} is reached.` }

/** Explains that a budget needs the model's price. */
export const unpriced = ({ name }: Pick<Model, "name">): string =>
  `A budget needs the model's price. Set it in settings.json, per million tokens: {"prices": {${JSON.stringify(UntrustedText.word(name, 200))}: {"input": 3, "output": 15}}}`
