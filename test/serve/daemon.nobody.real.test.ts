import { describe } from "@effect/vitest"
import * as Ground from "../support/escape/Ground.js"
import { daemon } from "./daemon.suite.js"

const ground = Ground.take("nobody")

describe.skipIf(ground === undefined || !Ground.seesCheckout())("as an ordinary user", () => {
  daemon("synapse exec --session", Ground.isSecond())
})
