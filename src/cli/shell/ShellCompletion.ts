/**
 * Completes what a person types: names of commands, options of ours, and paths as commands see them.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import { CommandRegistry } from "../../command/CommandRegistry.js"
import * as Completion from "../../terminal/Completion.js"
import type { Options } from "../../terminal/LineEditor.js"
import * as OwnCommand from "./OwnCommand.js"
import * as ShellHouse from "./ShellHouse.js"
import * as ShellNames from "./ShellNames.js"

/**
 * Makes the completion of a shell.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make =
  (house: ShellHouse.ShellHouse): Options["complete"] =>
  (text, place) =>
    Effect.flatMap(ShellHouse.service(house, CommandRegistry), (registry) => {
      const ours = registry
        .listed()
        .flatMap((handler) => [handler, ...(handler.known?.() ?? [])])
        .filter(({ name }) => !/[*\s]/.test(name))
        .map(({ name }) => name)
      const complete = Completion.make({
        commands: Effect.map(ShellNames.commands(house), (others) => [...ours, ...others]),
        ownCommands: OwnCommand.names.map((name) => `/${name}`),
        options: (command) => {
          const handler = registry.find(command)
          return handler === undefined ? [] : ["--help", ...(handler.usage.match(/--[a-z][a-z-]*/g) ?? [])]
        },
        list: (directory) => ShellNames.list(house, directory),
        home: house.home
      })
      // What follows /tty is a command line of its own.
      const [own = ""] = /^\/tty\s+/.exec(text) ?? []
      if (own === "" || place < own.length) return complete(text, place)
      return Effect.map(complete(text.slice(own.length), place - own.length), ({ start, words }) => ({
        start: start + own.length,
        words
      }))
    })
