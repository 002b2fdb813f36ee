import type { AdminCredentialDocument } from '../../admin/admin.ts'
import { html, type Fragment, type Markup } from '../../web/markup.ts'
import { linkTo } from '../links.ts'
import { actions, asking, formOf } from '../engine/buttons.ts'
import { listHeading, nothing, table } from '../list.ts'
import { chip, id, name, time } from '../parts.ts'
import { screen } from '../screen.ts'
import type { Form, Frame, Members } from '../engine/form.ts'

interface Answers {
  readonly list: { readonly credentials: readonly AdminCredentialDocument[]; readonly next: string | null }
}

const CREATE: Form = {
  kind: 'create',
  task: 'admin.create',
  use: useOf,
  caution: (_, { isLoopbackOnly }) =>
    isLoopbackOnly
      ? 'Your own role counts only while the issuer is a loopback address, and these credentials count after that too. Those with write access are created by the command line alone.'
      : undefined,
  fields: ['name', 'access', 'organization_id', 'days'],
}

const OF_APPLICATION: Form = {
  kind: 'create',
  task: 'delegate.create-credentials',
  fields: ['days'],
}

const REVOKE: Form = {
  kind: 'change',
  task: 'admin.revoke',
  rows: { member: 'credential_id' },
}

/** What programs use at the API of the administration, at the metrics, and for delegated sign-in. */
export const CREDENTIALS = screen<Answers>({
  path: '/console/credentials',
  section: 'credentials',
  reads: { list: { task: 'admin.list', input: () => ({}) } },
  filters: [],
  forms: [CREATE, OF_APPLICATION, REVOKE],
  names: ({ list }) => Object.fromEntries(list.credentials.map((one) => [one.credential_id, one.name])),
  view: ({ list }, frame) => ({
    title: 'Credentials',
    main: html`${listHeading(
      frame,
      'Credentials',
      { shown: list.credentials.length, next: list.next },
      actions(frame, [
        ...formOf(frame, CREATE.task),
        // The task refuses them.
        ...(frame.isLoopbackOnly ? [] : formOf(frame, OF_APPLICATION.task)),
      ]),
    )}
    ${table(frame, {
      caption: 'Credentials of programs, newest first',
      rows: list.credentials,
      next: list.next,
      empty: nothing(
        frame,
        'Credentials with which programs use the administration or read the metrics appear here.',
        'grantor admin create --name <name> --access read',
      ),
      columns: [
        { heading: 'Name', cell: (one) => name(one.name, '(no name)') },
        { heading: 'Access', cell: ({ access }) => (access === 'delegate' ? 'sign-ins' : access) },
        { heading: 'For', isWide: true, cell: extentOf },
        { heading: 'State', role: 'badge', cell: (one) => stateOf(one, frame) },
        { heading: 'Id', isWide: true, cell: (one) => id(one.credential_id) },
        { heading: 'Created', isWide: true, cell: (one) => time(one.created_at, frame) },
        { heading: 'Expires', role: 'meta', cell: (one) => time(one.expires_at, frame) },
        ...(formOf(frame, REVOKE.task).length === 0
          ? []
          : [
              {
                heading: 'Action',
                isAction: true as const,
                cell: (one: AdminCredentialDocument) => revoke(frame, one),
              },
            ]),
      ],
    })}`,
  }),
})

/** Where a program sends the token: docs/administration.md, docs/monitoring.md. */
function useOf({ access, organization_id: organization }: Members): string {
  if (access === 'metrics') return 'The program sends it as a Bearer token to /metrics, at the address of this console.'
  const ofServer = access === 'support' || access === 'users' ? 'users' : 'clients'
  const of = typeof organization === 'string' ? `organizations/${organization}/members` : ofServer
  return `The program sends it as a Bearer token to the addresses below /admin/v1, at the address of this console: /admin/v1/${of}, for example.`
}

function extentOf({ access, organization_id: organization }: AdminCredentialDocument): Markup {
  if (organization !== null) return id(organization, linkTo('organizations', organization))
  return access === 'metrics' || access === 'delegate' ? html`<span class="muted none">–</span>` : html`the server`
}

function isEnded({ revoked_at: revoked, expires_at: expires }: AdminCredentialDocument, { place }: Frame): boolean {
  return revoked !== null || Date.parse(expires) <= place.now
}

function stateOf(one: AdminCredentialDocument, frame: Frame): Markup {
  if (one.revoked_at !== null) return chip('Revoked', 'bad')
  return isEnded(one, frame) ? chip('Expired', 'quiet') : chip('Valid', 'good')
}

function revoke(frame: Frame, one: AdminCredentialDocument): Fragment {
  return isEnded(one, frame) ? undefined : asking(frame, formOf(frame, REVOKE.task), one.credential_id)
}
