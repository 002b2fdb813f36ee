import type { AuditEntryDocument } from '../../admin/audit/tasks.ts'
import type { SessionDocument } from '../../admin/session.ts'
import type { WholeUserDocument } from '../../admin/user/tasks.ts'
import { APPLICATION } from '../../protocol/sign-in/authentication.ts'
import { ATTEMPT_WINDOW_MS, NETWORK_LIMIT } from '../../protocol/sign-in/attempt-limits.ts'
import { code, html, type Fragment, type Markup } from '../../web/markup.ts'
import type { Frame } from '../engine/form.ts'
import { chip, exactTime, networkOf, time, type Tone } from '../parts.ts'

/** Why a person can or cannot sign in, the most frequent question of support. */

type Obstacle = WholeUserDocument['sign_in']['obstacles'][number]
type Known = Pick<WholeUserDocument, 'sign_in' | 'link'>

interface Verdict {
  readonly tone: 'good' | 'caution' | 'bad'
  readonly says: string
  /** The obstacles that it says already. */
  readonly about: readonly Obstacle['reason'][]
}

/** Whether wrong passwords or codes keep the user out for now. */
export function isLockedOut({ sign_in: { obstacles } }: Pick<WholeUserDocument, 'sign_in'>): boolean {
  return obstacles.some(({ wrong_attempts: attempts }) => attempts !== null)
}

/** The state of a user in a word, the worst one. */
export function stateOf({ state, state_until: until }: Stated, { place }: Pick<Frame, 'place'>): Markup {
  const [word, tone] = STATES[state]
  return chip(state === 'locked' && until !== null ? `${word}, ${minutesUntil(until, place.now)} min` : word, tone)
}

type Stated = Pick<WholeUserDocument, 'state' | 'state_until'>

const STATES: Readonly<Record<Stated['state'], readonly [word: string, tone: Tone]>> = {
  disabled: ['Disabled', 'bad'],
  'no-way': ['No way to sign in', 'bad'],
  locked: ['Locked', 'caution'],
  invited: ['Invited', 'quiet'],
  'never-signed-in': ['Never signed in', 'quiet'],
  active: ['Active', 'good'],
}

interface Lately {
  readonly sessions: readonly SessionDocument[]
  readonly events: readonly AuditEntryDocument[]
}

/** Whether the user can sign in, first the verdict, then why and how. */
export function answerOf(user: WholeUserDocument, { sessions, events }: Lately, frame: Frame): Markup {
  const { tone, says, about } = verdictOf(user, frame)
  const { obstacles } = user.sign_in
  const others = obstacles.filter(({ reason }) => !about.includes(reason))
  const lines = [
    ...obstacles.filter(({ wrong_attempts: attempts }) => attempts !== null).map((one) => lock(one, sessions)),
    waysIn(user),
    ...others.filter(({ wrong_attempts: attempts }) => attempts === null).map(adviceOf),
    user.link === null || says.includes('open until')
      ? undefined
      : `A link is open until ${exactTime(user.link.expires_at)}.`,
    lastSignIn(sessions, frame),
    networkLimit(events, frame),
  ]
  const shown = lines.filter((line) => line !== undefined)
  return html`<section class="answer ${tone}" aria-labelledby="can-sign-in">
    <h2 id="can-sign-in">${says}</h2>
    ${shown.length === 0 ? undefined : html`<p>${shown.map((line, index) => html`${index === 0 ? '' : ' '}${line}`)}</p>`}
  </section>`
}

/** Of an account without a way the verdict says the first sentence. */
function adviceOf({ reason, message }: Obstacle): string {
  return reason === 'no-way' ? message.replace(/^[^.]*\. /, '') : message
}

function verdictOf({ sign_in: { ways, obstacles }, link }: Known, { place }: Frame): Verdict {
  const find = (reason: Obstacle['reason']): Obstacle | undefined => obstacles.find((one) => one.reason === reason)
  const cannot = (why: string, ...about: Obstacle['reason'][]): Verdict => ({
    tone: 'bad',
    says: `Cannot sign in: ${why}`,
    about,
  })
  if (find('disabled') !== undefined) return cannot('the account is disabled', 'disabled')
  if (find('second-factor-unusable') !== undefined) return cannot('its second factor does not work now')
  if (ways.length === 0) {
    const provider = find('not-connected')?.provider ?? find('provider-required')?.provider ?? undefined
    const off = find('provider-disabled')
    if (off !== undefined) return cannot(`the provider ${off.provider ?? ''} is disabled`, 'provider-disabled')
    if (provider !== undefined)
      return {
        tone: 'caution',
        says: `Signs in at ${provider} only; it connects at the first sign-in there`,
        about: ['provider-required'],
      }
    if (link !== null)
      return {
        tone: 'caution',
        says: `Cannot sign in yet: the ${link.purpose === 'invitation' ? 'invitation' : 'link'} is open until ${exactTime(link.expires_at)}`,
        about: ['no-way'],
      }
    return cannot('there is no password, passkey or provider')
  }
  const locked = obstacles.find(({ wrong_attempts: attempts }) => attempts !== null)
  return locked === undefined
    ? { tone: 'good', says: 'Can sign in', about: [] }
    : { tone: 'caution', says: lockWords(locked, place.now), about: [] }
}

function lockWords({ reason, until }: Obstacle, now: number): string {
  const what = reason === 'too-many-passwords' ? 'The password is' : 'Codes of the authenticator app are'
  if (until === null) return `${what} refused in browsers that the account does not know`
  const minutes = minutesUntil(until, now)
  return `${what} refused for ${minutes} more ${minutes === 1 ? 'minute' : 'minutes'}`
}

function minutesUntil(end: string, now: number): number {
  return Math.max(1, Math.ceil((Date.parse(end) - now) / 60_000))
}

/** A lock does not keep out the browsers in which the user signed in before. */
function lock({ reason, wrong_attempts: attempts, until }: Obstacle, sessions: readonly SessionDocument[]): Fragment {
  const what = reason === 'too-many-passwords' ? 'wrong passwords' : 'wrong codes'
  const known = sessions.filter(({ browser }) => browser !== null)
  const browsers = [...new Set(known.map(browserOf))].slice(0, BROWSERS_NAMED).join(', ')
  return html`${String(attempts)} ${what}${until === null ? '' : `, until ${exactTime(until)}`}. Browsers that the user
  signed in with before still work${browsers === '' ? undefined : html`: <bdi>${browsers}</bdi>`}.`
}

const BROWSERS_NAMED = 3

const WAYS: Readonly<Record<string, string>> = {
  password: 'the password',
  passkey: 'a passkey',
  [APPLICATION]: 'your application',
}

/** With what the user signs in, besides a password that is refused. */
function waysIn({ sign_in: { ways, second_step: second, obstacles } }: WholeUserDocument): Fragment {
  const isRefused = obstacles.some(({ reason }) => reason === 'too-many-passwords')
  const working = ways.filter((way) => !(isRefused && way === 'password'))
  if (working.length === 0) return ways.length === 0 ? undefined : 'There is no other way to sign in.'
  const named = working.map((way, index) => {
    const before = index === 0 ? '' : index === working.length - 1 ? ' or ' : ', '
    return html`${before}${WAYS[way] ?? code(way)}`
  })
  const step =
    second === null || second.length === 0
      ? ''
      : second.includes('set-up')
        ? ', and the next sign-in sets a second step up'
        : `, and then with ${second.map((one) => STEPS[one] ?? one).join(' or ')}`
  return html`${isRefused ? 'Another way is' : 'With'} ${named}${step}.`
}

const STEPS: Readonly<Record<string, string>> = { app: 'a code of the app', passkey: 'a passkey' }

function lastSignIn([last]: readonly SessionDocument[], frame: Frame): Fragment {
  if (last === undefined) return undefined
  const { browser, network, started_at: at } = last
  const inBrowser = browser === null ? undefined : html` with <bdi>${browserOf(last)}</bdi>`
  return html`Last time ${time(at, frame)}${inBrowser}${network === null ? undefined : ` from ${networkOf(network)}`}.`
}

/** Attempts are counted for each network too, under names that say nothing of the network or the user. */
function networkLimit(events: readonly AuditEntryDocument[], { place }: Frame): string | undefined {
  const since = place.now - ATTEMPT_WINDOW_MS
  const isLikely = events.some(({ event, recorded_at: at }) => event === 'sign-in.failed' && Date.parse(at) >= since)
  return isLikely
    ? `Sign-ins failed lately: a network that made ${NETWORK_LIMIT} attempts is refused for up to 15 minutes, which only waiting ends.`
    : undefined
}

export function browserOf({ browser, system }: Pick<SessionDocument, 'browser' | 'system'>): string {
  return [browser ?? 'unknown browser', ...(system === null ? [] : [system])].join(' on ')
}
