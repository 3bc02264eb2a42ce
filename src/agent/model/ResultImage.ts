/**
 * The images of a tool's result, as a conversation holds them: in the options of the result, beside its text.
 *
 * Each protocol puts them where it takes them. A LanguageModel of another provider of `@effect/ai` gets the text alone.
 */
import * as Prompt from "@effect/ai/Prompt"
import * as Wire from "./internal/Wire.js"

/** An image; its bytes are in base64. */
export interface ResultImage {
  readonly mediaType: string
  readonly base64: string
}

/** The types that all providers take. */
const types: ReadonlyArray<string> = ["image/png", "image/jpeg", "image/gif", "image/webp"]

const key = "synapse"

/** Returns the images of a result. One that was read from a file may hold anything: what is no image is left out. */
export const of = ({ options }: Prompt.ToolResultPart): ReadonlyArray<ResultImage> =>
  Wire.listAt(options, key, "images").flatMap((image) => {
    const mediaType = Wire.textAt(image, "mediaType")
    const base64 = Wire.textAt(image, "base64")
    return types.includes(mediaType) && base64 !== "" ? [{ mediaType, base64 }] : []
  })

/** Returns a result with these images in place of its own. */
export const put = (part: Prompt.ToolResultPart, images: ReadonlyArray<ResultImage>): Prompt.ToolResultPart => {
  const { [key]: own, ...others } = part.options
  const { images: _, ...rest } = own ?? {}
  const kept = images.length === 0 ? rest : { ...rest, images }
  return Prompt.toolResultPart({
    ...part,
    options: Object.keys(kept).length === 0 ? others : { ...others, [key]: kept }
  })
}

/** Returns an image as an address that holds its content. */
export const urlOf = ({ base64, mediaType }: ResultImage): string => `data:${mediaType};base64,${base64}`
