import {
  AUDIT_EVENT_TEXTS,
  AUDIT_EVENTS,
  sentenceOf,
  type AuditEventName,
} from '../../src/protocol/audit/event-names.ts'
import { plainText, type SaidEvent, type Sentence } from '../../src/protocol/audit/sentence.ts'

type Details = NonNullable<SaidEvent['details']>

const IDS = { clientId: 'gci_1', userId: 'gus_1', organizationId: 'gor_1' }
const NAMES = { gci_1: 'Build Board', gus_1: 'ada@acme.test', gor_1: 'Acme', gus_2: 'grace@acme.test' }

/** Details that all events may have, and those of single ones, of which each is another sentence. */
export const DETAILS = {
  provider: 'google',
  group: 'finance',
  rule: 'payments',
  resource: 'https://api.acme.test',
  pattern: 'acme.test',
  set: 'staging',
  key: 'k1',
  source: 'keycloak',
  scope: 'payments',
  access: 'write',
  credential: 'gad_1',
  initial_token: 'git_1',
  issuer: 'https://login.acme.test',
  chain: '01a2',
  sequence: 7,
  links: 12,
  left: 9,
}
const OWN_DETAILS: Readonly<Partial<Record<AuditEventName, readonly Details[]>>> = {
  'sign-in.failed': [
    { reason: 'wrong-credentials', account: 'x' },
    { reason: 'disabled', account: 'x' },
  ],
  'session.started': [
    { methods: 'pwd' },
    { methods: 'pwd otp' },
    { methods: 'fed' },
    { methods: 'pop' },
    { methods: 'unknown' },
  ],
  'session.ended': [{ session: '01a2' }, { sessions: 3 }],
  'link.created': [{ sent: true }, { sent: false }],
  'console.refused': [{ reason: 'console_role_missing' }, { reason: 'console_factor_missing' }],
  'credential.presented-with-another-key': [{ kind: 'code' }, { kind: 'refresh-token' }],
  'provider.failed': [{ reason: 'timeout' }],
  'mail.undelivered': [{ reason: 'refused' }],
  'interaction.answered': [{ answer: 'allow' }],
  'tokens.issued': [
    { client_credentials: 4, refresh_token: 1, minute: 1_796_060_700_000 },
    { refresh_token: 1, minute: 1_796_060_700_000 },
  ],
}

/** Who may have caused an event, and what is known of it. An administrator may be the user. */
const KNOWN: readonly SaidEvent[] = [
  { ...IDS },
  { ...IDS, actor: 'command-line' },
  { ...IDS, actor: 'gus_2' },
  { ...IDS, actor: 'gus_1' },
  { ...IDS, userId: undefined },
  {},
]

/** Each event with the sentences that it may have: tone, icon, and objects in brackets, numbers in angles. */
export function eventSentences(): string {
  return AUDIT_EVENTS.map((event) => {
    const { icon, tone } = AUDIT_EVENT_TEXTS[event]
    const sentences = (OWN_DETAILS[event] ?? [{}]).flatMap((own) =>
      KNOWN.flatMap((known) =>
        [{}, { again: 11 }].map((again) =>
          marked(
            sentenceOf(
              { ...known, event, details: { ...(event === 'tokens.issued' ? {} : DETAILS), ...own, ...again } },
              NAMES,
            ),
          ),
        ),
      ),
    )
    return [`${event} (${icon}, ${tone})`, ...[...new Set(sentences)].map((one) => `  ${one}`), ''].join('\n')
  }).join('\n')
}

function marked(sentence: Sentence): string {
  return sentence
    .map((part) =>
      part.kind === 'object' ? `[${plainText([part])}]` : part.kind === 'number' ? `<${part.value}>` : part.text,
    )
    .join('')
}
