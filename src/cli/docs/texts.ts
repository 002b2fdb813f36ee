import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** `npm run docs` writes the list of languages and the slots of the texts from the files of texts, and so does a build, before any module reads it. */

const FOLDER = 'src/texts'
/** What tasks say: in English alone. */
const OF_TASKS = 'tasks.json'

/** Writes the module beside the files of a folder, if it differs. */
export function writeTexts(folder = FOLDER): void {
  const path = join(folder, 'generated.ts')
  const text = textsModule(folder)
  if (text !== readFileSync(path, 'utf8')) writeFileSync(path, text)
}

/** Returns the text of the module. English is first, because it is the default. */
export function textsModule(folder = FOLDER): string {
  const files = readdirSync(folder).filter((file) => file.endsWith('.json') && file !== OF_TASKS)
  const others = files.map((file) => file.replace('.json', '')).filter((language) => language !== 'en')
  const languages = ['en', ...others.toSorted()]
  const english = JSON.parse(readFileSync(join(folder, 'en.json'), 'utf8')) as Readonly<Record<string, string>>
  const slots = Object.entries(english).flatMap(([id, text]) => {
    const names = new Set(Array.from(text.matchAll(/\{(\w+)\}/g), ([, name]) => `'${name}'`))
    return names.size === 0 ? [] : [`  readonly ${keyOf(id)}: ${[...names].join(' | ')}\n`]
  })
  return `${languages.map((language) => `import ${nameOf(language)} from './${language}.json' with { type: 'json' }\n`).join('')}
// \`npm run docs\` writes this file from the others of this folder.

/** The languages of the pages and mails. The first is the default. */
export const LANGUAGES = [${languages.map((language) => `'${language}'`).join(', ')}] as const
export type Language = (typeof LANGUAGES)[number]

/** The texts of each language, by id. Only the default language has all of them. */
export const TEXTS: Readonly<Record<Language, Readonly<Record<string, string>>>> = { ${languages.map(entryOf).join(', ')} }
/** The ids of all texts, with their plural forms. */
export type EnglishTexts = typeof en

/** The slots of each text that has some. */
export interface TextSlots {
${slots.join('')}}
`
}

function keyOf(id: string): string {
  return /^\w+$/.test(id) ? id : `'${id}'`
}

/** `pt-BR` is no name of a variable. */
function nameOf(language: string): string {
  return language.replaceAll('-', '_')
}

function entryOf(language: string): string {
  return language === nameOf(language) ? language : `'${language}': ${nameOf(language)}`
}

if (import.meta.main) writeTexts()
