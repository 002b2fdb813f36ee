import type { Outcome } from './notice.ts'
import { parseJson } from '../../base/json.ts'
import type { OpenScreen } from './open-screen.ts'

/** Of the address in which an outcome is: a request whose headers have more than 16 KB is refused. */
const OUTCOME_LIMIT = 8192

/** Seals what was done for the address of the next page: another site must not make a page say that something was done. */
export function sealOutcome({ context, signedIn }: OpenScreen, outcome: Outcome): string {
  const seal = (one: Outcome): string => {
    const payload = Buffer.from(JSON.stringify(one)).toString('base64url')
    return `${payload}.${context.server.secrets.digest('console', ['done', signedIn.grantId, payload])}`
  }
  const whole = seal(outcome)
  return whole.length <= OUTCOME_LIMIT ? whole : seal(withoutTexts(outcome))
}

/** What was done and what was not, without the texts beside it. */
function withoutTexts(outcome: Outcome): Outcome {
  const refused = outcome.refused.map(([subject]) => [subject, ''] as const)
  return { ...outcome, before: undefined, undo: undefined, note: undefined, refused }
}

export function readOutcome({ context, signedIn }: OpenScreen, text = ''): Outcome | undefined {
  const [payload = '', mac = ''] = text.split('.', 2)
  if (!context.server.secrets.digestMatches('console', ['done', signedIn.grantId, payload], mac)) return undefined
  return parseJson(Buffer.from(payload, 'base64url').toString()) as Outcome
}
