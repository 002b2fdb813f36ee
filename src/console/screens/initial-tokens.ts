import type { InitialTokenDocument } from '../../admin/client/initial-token.ts'
import { html, type Fragment, type Markup } from '../../web/markup.ts'
import { askLinks } from '../engine/buttons.ts'
import { listHeading, nothing, table } from '../list.ts'
import { chip, name, scopes, time } from '../parts.ts'
import { screen } from '../screen.ts'
import type { Frame, Members } from '../engine/form.ts'

interface Answers {
  readonly list: { readonly initial_tokens: readonly InitialTokenDocument[]; readonly next: string | null }
}

/** The initial access tokens with which clients register (RFC 7591 §1.2). */
export const INITIAL_TOKENS = screen<Answers>({
  path: '/console/initial-tokens',
  section: 'initial-tokens',
  reads: { list: { task: 'initial-token.list', input: () => ({}) } },
  filters: [],
  forms: [
    {
      kind: 'change',
      task: 'initial-token.revoke',
      rows: { member: 'initial_token_id', isBulk: true, read: rowsOf },
    },
    {
      kind: 'create',
      task: 'initial-token.create',
      fields: ['name', 'uses', 'days', 'template'],
    },
  ],
  names: ({ list }) => Object.fromEntries(list.initial_tokens.map((one) => [one.initial_token_id, one.name])),
  view: ({ list }, frame) => ({
    title: 'Initial access tokens',
    main: html`${listHeading(frame, 'Initial access tokens', { shown: list.initial_tokens.length, next: list.next }, askLinks(frame, 'initial-token.create'))}
    ${table(frame, {
      caption: 'Initial access tokens, newest first',
      rows: list.initial_tokens,
      next: list.next,
      idOf: (one) => one.initial_token_id,
      isLeftOut: (one) => one.revoked_at !== null,
      labelOf: (one) => one.name,
      empty: nothing(
        frame,
        'With an initial access token a program registers clients, also where registration is not open.',
        'grantor initial-token create --name <name>',
      ),
      columns: [
        { heading: 'Name', cell: (one) => name(one.name, '(no name)') },
        { heading: 'State', role: 'badge', cell: (one) => state(one, frame) },
        { heading: 'Uses left', cell: (one) => `${one.uses_left} of ${one.uses}` },
        { heading: 'Clients', isWide: true, cell: ({ template }) => trust(template) },
        {
          heading: 'Scopes at most',
          isWide: true,
          cell: ({ template: { scope } }) => (scope === null ? html`<span class="muted">any</span>` : scopes(scope)),
        },
        { heading: 'Hosts', isWide: true, cell: ({ template }) => hosts(template) },
        { heading: 'Expires', role: 'meta', cell: (one) => time(one.expires_at, frame) },
        { heading: 'Created', isWide: true, cell: (one) => time(one.created_at, frame) },
      ],
    })}`,
  }),
})

function rowsOf(answers: Members): Readonly<Record<string, Members>> {
  const { list } = answers as unknown as Answers
  return Object.fromEntries(list.initial_tokens.map((one) => [one.initial_token_id, one]))
}

function state(
  { revoked_at: revoked, expires_at: until, uses_left: left }: InitialTokenDocument,
  { place }: Frame,
): Markup {
  if (revoked !== null) return chip('Revoked', 'bad')
  if (Date.parse(until) <= place.now) return chip('Expired', 'quiet')
  return left === 0 ? chip('Used up', 'quiet') : chip('Active', 'good')
}

/** Whether its clients count as verified, as on the list of clients. */
function trust({ trust_level: level }: InitialTokenDocument['template']): Markup {
  return level === 'verified' ? chip('Verified', 'good') : chip('Unverified', 'caution')
}

function hosts({ redirect_hosts: all }: InitialTokenDocument['template']): Fragment {
  return all === null ? html`<span class="muted">any</span>` : html`<bdi>${all.join(', ')}</bdi>`
}
