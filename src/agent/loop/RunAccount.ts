/**
 * Counts what a run and its sub-agents use.
 *
 * @since 0.1.0
 */
import type { CommandAccount } from "../../domain/CommandListener.js"
import type { Limits } from "./AgentLoop.js"
import * as RunLimits from "./RunLimits.js"
import * as TokenUsage from "./TokenUsage.js"

/**
 * The account of a run. What is added to it is added to that of its caller too, whose limits hold as well.
 *
 * @since 0.1.0
 * @category models
 */
export class RunAccount implements CommandAccount {
  private sum: TokenUsage.TokenUsage = TokenUsage.none

  constructor(
    private readonly limits: Limits,
    private readonly caller: CommandAccount | undefined
  ) {}

  /** All that was used so far. */
  get total(): TokenUsage.TokenUsage {
    return this.sum
  }

  get hasBudget(): boolean {
    return this.limits.budget !== undefined || this.caller?.hasBudget === true
  }

  readonly add = (usage: TokenUsage.TokenUsage): void => {
    this.sum = TokenUsage.add(this.sum, usage)
    this.caller?.add(usage)
  }

  readonly reached = (pending?: TokenUsage.TokenUsage): RunLimits.Reached<"tokens" | "budget"> | undefined =>
    RunLimits.ofUsage(this.limits, pending === undefined ? this.sum : TokenUsage.add(this.sum, pending)) ??
    this.caller?.reached(pending)
}
