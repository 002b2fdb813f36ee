import { LANGUAGES, type Language } from '../base/language.ts'
import { textsByLanguage, type TextsByLanguage } from '../base/localized-text.ts'
import type { ClientInspection } from '../ports/inspection.ts'
import { forShell } from '../base/shell.ts'
import { warning, type Finding } from './finding.ts'

/** The APIs that a finding names. */
const NAMED = 20

/**
 * Counts the names of APIs and the sentences of scopes that a language lacks. Only of languages in which there is a text: other operators
 * write theirs in one language, and a page in another one shows that.
 */
export function checkTexts({ apis }: Pick<ClientInspection, 'apis'>): readonly Finding[] {
  const texts = apis.flatMap(({ resource, name, scopes }) =>
    [name, ...scopes.map(({ sentence }) => sentence)].flatMap((text) =>
      text === undefined ? [] : [{ resource, texts: textsByLanguage(text) }],
    ),
  )
  return LANGUAGES.flatMap((language) => {
    const isOffered = texts.some((one) => one.texts[language] !== undefined)
    const lacking = texts.filter((one) => one.texts[language] === undefined && !isDefault(one.texts, language))
    if (!isOffered || lacking.length === 0) return []
    const resources = [...new Set(lacking.map(({ resource }) => resource))]
    const more = resources.length > NAMED ? ` and ${resources.length - NAMED} more` : ''
    return [
      warning(
        'texts',
        `In ${language}, ${lacking.length} of ${texts.length} names of APIs and sentences of scopes are missing: ${resources.slice(0, NAMED).join(', ')}${more}. The pages show them in another language.`,
        `Give them: grantor api update ${forShell(resources[0] ?? '')} --scope-${forShell(language)} <scope>=<sentence> --name-${forShell(language)} <name>`,
      ),
    ]
  })
}

/** The text of all other languages is that of the default language too. */
function isDefault(texts: TextsByLanguage, language: Language): boolean {
  return language === LANGUAGES[0] && texts.default !== undefined
}
