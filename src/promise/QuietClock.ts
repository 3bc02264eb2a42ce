/**
 * A clock whose timers are no reason for the process to stay: what looks again now and then ends with the program.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** As long as a timer of node's can be; Effect's own clock takes what is longer for ever too. */
const longest = 2 ** 31 - 1

const live = Clock.make()

const clock: Clock.Clock = {
  [Clock.ClockTypeId]: Clock.ClockTypeId,
  unsafeCurrentTimeMillis: () => live.unsafeCurrentTimeMillis(),
  currentTimeMillis: live.currentTimeMillis,
  unsafeCurrentTimeNanos: () => live.unsafeCurrentTimeNanos(),
  currentTimeNanos: live.currentTimeNanos,
  sleep: (duration) =>
    Effect.async((resume) => {
      const milliseconds = Duration.toMillis(duration)
      if (milliseconds > longest) return
      const timer = setTimeout(() => resume(Effect.void), milliseconds).unref()
      return Effect.sync(() => clearTimeout(timer))
    })
}

/**
 * A layer that sets this clock for what is built with it.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<never> = Layer.setClock(clock)
