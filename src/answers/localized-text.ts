import * as z from 'zod'
import { TEXT_LANGUAGES, type TextLanguage } from '../base/localized-text.ts'

const TEXTS = Object.fromEntries(TEXT_LANGUAGES.map((language) => [language, z.string().optional()]))

/** A text that pages show, in an answer. */
export const LOCALIZED_TEXT = z.union([
  z.string(),
  z
    .object(TEXTS as Readonly<Record<TextLanguage, z.ZodOptional<z.ZodString>>>)
    .meta({ id: 'TextsByLanguage' })
    .describe('The texts by language. `default`: the text of every other language.'),
])
