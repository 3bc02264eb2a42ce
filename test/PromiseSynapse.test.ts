import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as CommandListener from "../src/domain/CommandListener.js"
import * as PromiseSynapse from "../src/PromiseSynapse.js"
import { type Command, defineCommand, InvalidUsage, type Pending, type Synapse } from "../src/promise.js"
import * as TestSynapse from "../src/TestSynapse.js"

const call = (id: string, command: string) => ({ id, name: "Bash", arguments: JSON.stringify({ command }) })

const withSynapse = async (use: (synapse: Synapse) => Promise<void>, onEnd = () => {}) => {
  const synapse = await PromiseSynapse.fromLayer(
    TestSynapse.layer((command) =>
      command === "hang" ? Effect.onInterrupt(Effect.never, () => Effect.sync(onEnd)) : { stdout: command }
    )
  )
  try {
    await use(synapse)
  } finally {
    await synapse.dispose()
  }
}

describe("PromiseSynapse", () => {
  it("answers calls, in parallel, and shows the tools", () =>
    withSynapse(async (synapse) => {
      assert.deepStrictEqual(
        synapse.tools.map(({ name }) => name),
        ["Bash"]
      )
      const results = await Promise.all([synapse.handle(call("1", "a")), synapse.handle(call("2", "b"))])
      assert.deepStrictEqual(
        results.map(({ output, toolCallId }) => ({ output, toolCallId })),
        [
          { output: "a", toolCallId: "1" },
          { output: "b", toolCallId: "2" }
        ]
      )
    }))

  it("S47 S48: cancels the tool beneath, once, keeps the id, and goes on", () => {
    let ended = 0
    return withSynapse(
      async (synapse) => {
        const pending = synapse.handle(call("1", "hang"))
        // A refused call of the same id cancels nothing but itself.
        const refused = synapse.handle(call("1", "a"))
        refused.cancel()
        assert.strictEqual((await refused).extras.failureCategory, "invalid_usage")
        assert.strictEqual(ended, 0)
        pending.cancel()
        pending.cancel()
        const { extras, toolCallId } = await pending
        assert.deepStrictEqual(
          { ended, toolCallId, exitCode: extras.exitCode },
          { ended: 1, toolCallId: "1", exitCode: 130 }
        )
        assert.strictEqual((await synapse.handle(call("1", "fine"))).output, "fine")
      },
      () => ended++
    )
  })

  it("answers what is no call, and takes arguments that are an object", () =>
    withSynapse(async (synapse) => {
      const handle = synapse.handle as (call: unknown) => Pending
      const wrong = [undefined, null, {}, "ls", { id: 5, name: "Bash", arguments: "{}" }, { id: "7", name: "Bash" }]
      for (const given of wrong) {
        const pending = handle(given)
        pending.cancel()
        const { extras, isError, message, toolCallId } = await pending
        assert.deepStrictEqual(
          { isError, category: extras.failureCategory, toolCallId },
          { isError: true, category: "invalid_usage", toolCallId: given === wrong[5] ? "7" : "" }
        )
        assert.match(message, /^Invalid tool call: .*A call is \{ id, name, arguments \}/)
      }
      const given = { id: "1", name: "Bash", arguments: { command: "a" } }
      assert.strictEqual((await synapse.handle(given)).output, "a")
    }))

  it("says of a call after its end that it has ended", async () => {
    let synapse: Synapse | undefined
    await withSynapse(async (made) => {
      synapse = made
    })
    assert.deepStrictEqual(await synapse?.handle(call("1", "a")), {
      toolCallId: "1",
      isError: true,
      output: "the session has ended",
      message: "the session has ended",
      extras: { exitCode: 1, failureCategory: "execution_error", error: "ExecutionFailed", stdout: "", stderr: "" }
    })
  })

  it("ends what runs when it is disposed of", () => {
    let ended = 0
    let last: Pending | undefined
    return withSynapse(
      async (synapse) => {
        last = synapse.handle(call("1", "hang"))
      },
      () => ended++
    ).then(async () => {
      assert.strictEqual((await last)?.extras.exitCode, 130)
      assert.strictEqual(ended, 1)
    })
  })

  it("ends a call by its signal, also one that has aborted before", () => {
    let ended = 0
    return withSynapse(
      async (synapse) => {
        const controller = new AbortController()
        const pending = synapse.handle(call("1", "hang"), { signal: controller.signal })
        controller.abort()
        assert.strictEqual((await pending).extras.exitCode, 130)
        assert.strictEqual(ended, 1)
        const late = synapse.handle(call("2", "fine"), { signal: controller.signal })
        assert.strictEqual((await late).output, "Command cancelled before it began: it was not run.")
        assert.deepStrictEqual({ ...(await late).extras }, { exitCode: 130, stdout: "", stderr: "", interrupted: true })
        assert.strictEqual(
          (await synapse.handle(call("3", "fine"), { signal: new AbortController().signal })).output,
          "fine"
        )
      },
      () => ended++
    )
  })

  it("ends a call by its id, once it has one", () =>
    withSynapse(async (synapse) => {
      const pending = synapse.handle(call("1", "hang"))
      assert.deepStrictEqual(
        [await synapse.cancel("2"), await synapse.cancel("1"), await synapse.cancel("1")],
        [false, true, false]
      )
      assert.strictEqual((await pending).extras.exitCode, 130)
    }))

  it("shows the tools in the form that each API takes", () =>
    withSynapse(async (synapse) => {
      const [{ description, name, parameters } = assert.fail("there is no tool")] = synapse.tools
      const [tool] = synapse.toolsFor("anthropic")
      assert.deepStrictEqual({ ...tool }, { name, description, input_schema: { ...parameters, type: "object" } })
      assert.strictEqual(synapse.toolsFor("openai")[0]?.function.name, "Bash")
      const toolsFor = synapse.toolsFor as (format: string) => unknown
      assert.throws(() => toolsFor("gemini"), InvalidUsage, 'unknown format "gemini": there are anthropic, openai, mcp')
    }))

  it("refuses options that there are not", () =>
    withSynapse(async (synapse) => {
      const handle = synapse.handle as (call: unknown, options: unknown) => Pending
      const messages = await Promise.all(
        [{ singal: 1 }, { onOutput: "x" }, { signal: {} }, 5].map(
          async (options) => (await handle(call("1", "a"), options)).message
        )
      )
      assert.deepStrictEqual(messages, [
        'there is no option "singal"',
        'the option "onOutput" must be a function, not "x"',
        'the option "signal" must be an AbortSignal, not an object',
        "the options must be an object, not 5"
      ])
    }))

  it("disposes of itself once, and at the end of its scope", () =>
    withSynapse(async (synapse) => {
      const pending = synapse.handle(call("1", "hang"))
      assert.strictEqual(synapse.dispose(), synapse[Symbol.asyncDispose]())
      await synapse.dispose()
      assert.strictEqual((await pending).extras.exitCode, 130)
    }))

  it("keeps the list of tasks", () =>
    withSynapse(async ({ todos }) => {
      const heard: Array<number> = []
      const stop = todos.onChange((list) => heard.push(list.length))
      const task = { content: "Run the tests", activeForm: "Running the tests", status: "pending" } as const
      todos.set([task])
      assert.deepStrictEqual(todos.get(), [task])
      stop()
      todos.set([])
      assert.deepStrictEqual(heard, [0, 1])
      assert.throws(() => todos.set([{ ...task, content: " " }]), InvalidUsage, "todos.0.content: Must not be blank")
    }))
})

describe("the output of a call", () => {
  const euro = new TextEncoder().encode("€")

  /** Tells the chunks, one after the other as each is taken, and counts those that were. */
  const withOutput = async (
    chunks: ReadonlyArray<Uint8Array>,
    use: (pending: () => Pending, told: () => number) => Promise<void>
  ) => {
    let told = 0
    const script: TestSynapse.Script = () =>
      Effect.flatMap(FiberRef.get(CommandListener.current), ({ onOutput }) =>
        Effect.promise(async () => {
          for (const chunk of chunks) {
            await onOutput?.("stdout", chunk)
            told++
          }
          return {}
        })
      )
    const synapse = await PromiseSynapse.fromLayer(TestSynapse.layer(script))
    try {
      await use(
        () => synapse.handle(call("1", "x")),
        () => told
      )
    } finally {
      await synapse.dispose()
    }
  }

  it("comes whole, character by character, to a loop and to a callback", () =>
    withOutput([euro.subarray(0, 1), euro.subarray(1), new Uint8Array([0x61, 0xe2])], async (start) => {
      const pending = start()
      const texts: Array<string> = []
      for await (const { stream, text } of pending) texts.push(`${stream}: ${text}`)
      assert.deepStrictEqual(texts, ["stdout: €", "stdout: a", "stdout: \ufffd"])
      assert.isFalse((await pending).isError)
      for await (const late of pending) assert.fail(`nothing more comes: ${late.text}`)
    }))

  it("waits for a loop that is slower, and not for one that was left", () =>
    withOutput(
      Array.from({ length: 5 }, (_, at) => new TextEncoder().encode(String(at))),
      async (start, told) => {
        const pending = start()
        for await (const { text } of pending) {
          await new Promise((resolve) => setImmediate(resolve))
          assert.isAtMost(told(), Number(text) + 1)
          if (text === "2") break
        }
        assert.strictEqual((await pending).extras.exitCode, 0)
        assert.strictEqual(told(), 5)
      }
    ))

  it("goes to a callback that returns anything", async () => {
    const warned: Array<Error> = []
    const note = (warning: Error) => void warned.push(warning)
    process.on("warning", note)
    const synapse = await PromiseSynapse.fromLayer(TestSynapse.layer(() => ({ stdout: "x" })))
    const seen: Array<string> = []
    const onOutput = (output: { readonly text: string }): undefined => {
      seen.push(output.text)
      return 1 as unknown as undefined
    }
    await synapse.handle(call("1", "x"), { onOutput })
    await new Promise(setImmediate)
    process.off("warning", note)
    assert.deepStrictEqual([seen, warned], [["x"], []])
  })

  it("is refused by a callback without harm", async () => {
    const warned = new Promise<Error>((resolve) => process.once("warning", resolve))
    const synapse = await PromiseSynapse.fromLayer(TestSynapse.layer(() => ({ stdout: "x" })))
    const result = await synapse.handle(call("1", "x"), {
      onOutput: () => {
        throw new Error("no")
      }
    })
    assert.strictEqual(result.output, "x")
    assert.strictEqual((await warned).message, "synapse: onOutput failed: Error: no")
    await synapse.dispose()
  })
})

describe("a command of the program's own", () => {
  const command = (run: Command["run"]) =>
    defineCommand({ name: "mine", summary: "Does it.", usage: "mine <what>", run })

  const outcome = (run: Command["run"], line = "mine a 'b c'") => {
    let got: unknown
    return withSynapse(async (synapse) => {
      const remove = synapse.addCommand(command(run))
      const { extras } = await synapse.handle(call("1", line))
      remove()
      got = [extras.exitCode, extras.stdout, extras.stderr]
    }).then(() => got)
  }

  it("is given its words, and answers in any form", async () => {
    assert.deepStrictEqual(await outcome(({ args, cwd }) => `${args.join("|")} in ${cwd}`), [0, "a|b c in /", ""])
    assert.deepStrictEqual(await outcome(async () => ({ stderr: "e", exitCode: 3 })), [3, "", "e"])
    assert.deepStrictEqual(await outcome(() => {}), [0, "", ""])
    assert.deepStrictEqual(await outcome(async ({ stdin }) => `<${await stdin.text()}>`), [0, "<>", ""])
    assert.deepStrictEqual(await outcome(() => "no", "mine --help"), [0, "Does it.\n\nUsage: mine <what>\n", ""])
  })

  it("fails as a result where it throws, or answers what is no answer", async () => {
    const wrong = (() => 5) as unknown as Command["run"]
    assert.deepStrictEqual(await outcome(() => Promise.reject(new Error("no such city"))), [
      1,
      "",
      "mine: no such city\n"
    ])
    assert.deepStrictEqual(
      await outcome(() => {
        throw "text"
      }),
      [1, "", "mine: text\n"]
    )
    assert.deepStrictEqual(await outcome(() => ({ exitCode: 999 })), [
      1,
      "",
      "mine: it must answer a text, or { stdout, stderr, exitCode } with an exit code from 0 to 255\n"
    ])
    assert.deepStrictEqual((await outcome(wrong)) as Array<unknown>, [
      1,
      "",
      "mine: it must answer a text, or { stdout, stderr, exitCode } with an exit code from 0 to 255\n"
    ])
  })

  it("is used wrongly where it throws InvalidUsage, in a plain call as within a line", () =>
    withSynapse(async (synapse) => {
      synapse.addCommand(
        command(() => {
          throw new InvalidUsage("no such city")
        })
      )
      const { extras, output } = await synapse.handle(call("1", "mine"))
      assert.deepStrictEqual(
        [output, extras],
        [
          "mine: no such city\nUsage: mine <what>",
          { exitCode: 1, failureCategory: "invalid_usage", error: "InvalidUsage" }
        ]
      )
    }))

  it("is told by its signal when the call is ended", () =>
    withSynapse(async (synapse) => {
      let started = () => {}
      const running = new Promise<void>((resolve) => {
        started = resolve
      })
      const aborted = new Promise<void>((resolve) => {
        synapse.addCommand(
          command(({ signal }) => {
            signal.addEventListener("abort", () => resolve())
            started()
            return new Promise(() => {})
          })
        )
      })
      const pending = synapse.handle(call("1", "mine"))
      await running
      pending.cancel()
      assert.strictEqual((await pending).extras.exitCode, 130)
      await aborted
    }))

  it("is refused where something is wrong, or its name taken", () =>
    withSynapse(async (synapse) => {
      const define = defineCommand as (command: unknown) => unknown
      const said = (wrong: unknown) => {
        try {
          define(wrong)
          return "nothing is wrong"
        } catch (error) {
          return error instanceof InvalidUsage ? error.message : error
        }
      }
      assert.deepStrictEqual(
        [
          said({ name: "a b", summary: "s", usage: "u", run: 1 }),
          said({ name: "a", sumary: "s" }),
          said({ name: "a", summary: "s", usage: "u", run: () => {}, foo: 1 }),
          said({ name: "builtin", summary: "s", usage: "u", run: () => {} }),
          said(undefined)
        ],
        [
          'the command "a b": the field "name" must be one word of letters, digits, - and _, such as weather, not "a b"\nthe field "run" must be a function, not 1',
          'the command "a": there is no field "sumary"\nthe field "summary" is missing\nthe field "usage" is missing\nthe field "run" is missing',
          'the command "a": there is no field "foo"',
          'the command "builtin": the field "name" can\'t be used: it is a builtin of bash, which every line may need',
          "the fields must be an object, not undefined"
        ]
      )
      const remove = synapse.addCommand(command(() => "1"))
      assert.throws(() => synapse.addCommand(command(() => "2")), InvalidUsage)
      remove()
      synapse.addCommand(command(() => "2"))
      assert.strictEqual((await synapse.handle(call("1", "mine"))).output, "2")
    }))
})
