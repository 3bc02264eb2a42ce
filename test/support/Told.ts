/** What is told beside a result. */
import * as Diagnostic from "../../src/domain/Diagnostic.js"

interface Told {
  readonly diagnostics?: ReadonlyArray<Diagnostic.Diagnostic> | undefined
}

/** Words for a model what a result tells, a line each; undefined for nothing. */
export const notices = ({ diagnostics }: Told): ReadonlyArray<string> | undefined =>
  diagnostics?.map(Diagnostic.forModel)

/** Notices about the shell. */
export const told = (...texts: ReadonlyArray<string>): ReadonlyArray<Diagnostic.Diagnostic> =>
  texts.map((text) => Diagnostic.notice(text))
