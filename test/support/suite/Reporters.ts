/** What a run says besides its results: flaky tests, dead processes, the slowest files, what they cost and leave. */
import { relative } from "node:path"
import type { Reporter, TestModule } from "vitest/node"
import type {} from "./File.js"

const say = (line: string) => process.stdout.write(`${line}\n`)

const nameOf = ({ moduleId, project }: TestModule) => relative(project.config.root, moduleId)

const seconds = (value: number) => `${value.toFixed(1)} s`

/** Names the tests that did not pass at the first try, with what went wrong there. */
export const flaky: Reporter = {
  onTestCaseResult: (test) => {
    const { flaky = false, retryCount = 0 } = test.diagnostic() ?? {}
    const why = test.result().errors?.[0]?.message ?? ""
    if (flaky) say(`passed at try ${retryCount + 1}: ${test.fullName}: ${JSON.stringify(why.slice(0, 300))}`)
  }
}

/** Names the files whose process has died before all their tests ended, which vitest does not. */
export const unfinished: Reporter = {
  onTestRunEnd: (modules) => {
    for (const one of modules) {
      if (!["queued", "pending"].includes(one.state())) continue
      const test = Array.from(one.children.allTests()).find((test) => test.result().state === "pending")
      say(`its process has died: ${one.moduleId}, in or before: ${test?.fullName ?? "its first test"}`)
    }
  }
}

/** Names the slowest ten of many files. */
export const slowest: Reporter = {
  onTestRunEnd: (modules) => {
    if (modules.length <= 10) return
    say("the slowest files:")
    const byDuration = modules.toSorted((one, other) => other.diagnostic().duration - one.diagnostic().duration)
    for (const one of byDuration.slice(0, 10)) {
      const { cpu } = one.meta()
      const cost = cpu === undefined ? "" : `, ${seconds(cpu)} of CPU`
      say(`  ${nameOf(one)}: ${seconds(one.diagnostic().duration / 1000)}${cost}`)
    }
  }
}

/** Names the files that took more CPU than they may: `limit` seconds, but for the exceptions. */
export const budget = (limit: number, exceptions: Readonly<Record<string, number>>): Reporter => ({
  onTestRunEnd: (modules) => {
    for (const one of modules) {
      const { cpu = 0 } = one.meta()
      const most = exceptions[nameOf(one)] ?? limit
      if (cpu > most) say(`over its budget of CPU: ${nameOf(one)}: ${seconds(cpu)} of ${most} s`)
    }
  }
})

/** Names what files have left in their temporary directories. */
export const leftovers: Reporter = {
  onTestRunEnd: (modules) => {
    for (const one of modules) {
      const { left = [] } = one.meta()
      if (left.length > 0) say(`left behind by ${nameOf(one)}: ${left.join(", ")}`)
    }
  }
}
