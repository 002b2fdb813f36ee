import { textIn } from '../base/localized-text.ts'
import type { Texts } from './engine/form.ts'
import type { ApiDocument } from '../admin/api/document.ts'

type Scope = ApiDocument['scopes'][number]

/** What an API is called in the console, which is in English. */
export function apiName({ name, resource }: Pick<ApiDocument, 'name' | 'resource'>): string {
  return name === null ? resource : textIn(name, 'en').text
}

/** Which clients can have a scope. */
export const GRANTED: Readonly<Record<Scope['granted_to'], string>> = {
  users: 'any client, with consent',
  'users-on-request': 'any client that names it, with consent',
  'users-and-machines': 'any client, also without a user',
  'approved-clients': 'only clients that you approve',
}

/** What a scope requires of the sign-in. */
export const LEVELS: Readonly<Record<NonNullable<Scope['step_up']>['level'], string>> = {
  '2fa': 'two factors',
  phr: 'a passkey',
}

/** What a person with an access may do, for the one who gives it. */
const ACCESSES: Texts = {
  read: 'See everything but secrets. Change nothing.',
  support:
    'See users, their sessions, apps and activity. Invite, send reset mails, unlock, end sessions, revoke an app, reset the authenticator app, disable and enable. No links on the screen, no deletion, no roles, no clients, no settings.',
  users: 'Everything about users and members, with links and deletion, but for accounts with a role.',
  write: 'Change everything, also roles, credentials and keys.',
  metrics: 'Only /metrics, for a program that collects figures. Not for one organization.',
}

/** What an access rule demands instead of leaving something out. */
const DEMANDS: Texts = { none: 'leave it out', '2fa': 'give it with two factors', phr: 'give it with a passkey' }

/** What a state of an access rule does. */
const STATES: Texts = {
  on: 'The rule takes.',
  report: 'It is only logged and counted what the rule would take.',
  off: 'The rule does nothing.',
}

/** The words for the values of a choice, by the name of its field. They say what its description says of the values. */
export const CHOICE_WORDS: Readonly<Record<string, Texts>> = { granted_to: GRANTED, level: LEVELS, require: DEMANDS }

/** The same, for a choice whose values keep their names, each with what it means below it. */
export const CHOICE_MEANINGS: Readonly<Record<string, Texts>> = { access: ACCESSES, state: STATES }
