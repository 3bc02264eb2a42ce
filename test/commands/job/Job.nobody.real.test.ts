import { describe } from "@effect/vitest"
import * as Ground from "../../support/escape/Ground.js"
import { suite } from "./Job.suite.js"

const ground = Ground.take("nobody")

describe.skipIf(ground === undefined)("an ordinary user", () => suite("has jobs", ground ?? "", Ground.isSecond()))
