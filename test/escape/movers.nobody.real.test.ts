import { describe } from "@effect/vitest"
import * as Ground from "../support/escape/Ground.js"
import { movingTrees } from "./movers.js"

const ground = Ground.take("nobody")

describe.skipIf(ground === undefined)("what moves while a session starts", () => movingTrees(ground ?? ""))
