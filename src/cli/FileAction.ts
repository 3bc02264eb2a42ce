/** Runs `read`, `write` and `edit` for a person, as `synapse read`, `write` and `edit`. */
import type { ConfigError } from "effect/ConfigError"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { quote } from "../bash/Quote.js"
import * as CommandGrammar from "../command/CommandGrammar.js"
import * as Edit from "../commands/edit/Edit.js"
import * as Read from "../commands/read/Read.js"
import * as Write from "../commands/write/Write.js"
import * as Advice from "../domain/Advice.js"
import * as CallContext from "../domain/CallContext.js"
import type * as CommandInput from "../domain/CommandInput.js"
import { App, Invocation } from "./Invocation.js"
import * as SessionOptions from "./SessionOptions.js"
import { Stdio } from "./Stdio.js"
import { handle } from "./ToolRun.js"

const grammars = [Edit.grammar, Read.grammar, Write.grammar]
const person = Advice.person(grammars.map(({ name }) => name))

/** Runs the command that the program was called with. Its advice names what a person can type, and no tool calls. */
export const run: Effect.Effect<void, ConfigError, App | Invocation | Stdio> = Effect.gen(function* () {
  const { args, setExitCode } = yield* Invocation
  const stdio = yield* Stdio
  const [name = "", ...words] = args
  const grammar = grammars.find((one) => one.name === name)
  const answer = grammar && CommandGrammar.helpFor(grammar, words, person)
  if (answer !== undefined) return yield* Effect.promise(async () => stdio.write("stdout", answer))
  const app = yield* App
  const command = [name, ...words.map(quote)].join(" ")
  const call = { id: name, name: "Bash", arguments: JSON.stringify({ command }) }
  const code = yield* handle(call, false, { audience: person }).pipe(
    CallContext.locally({ input: inputOf(stdio) }),
    Effect.provide(app.layer(SessionOptions.endsAtOnce, {}))
  )
  yield* setExitCode(code)
})

const inputOf = ({ hasInput, read }: Context.Tag.Service<Stdio>): CommandInput.CommandInput | undefined =>
  hasInput()
    ? Stream.repeatEffectOption(
        Effect.flatMap(read, (chunk) => (chunk === undefined ? Effect.fail(Option.none()) : Effect.succeed(chunk)))
      )
    : undefined
