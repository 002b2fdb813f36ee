import type { ApiDocument } from '../../admin/api/document.ts'
import type { ClientDocument } from '../../admin/client/document.ts'
import type { InstallationDocument } from '../../admin/organization/installation.ts'
import { forShell } from '../../base/shell.ts'
import { addressOf, AUTHORIZE_PATH } from '../../protocol/uri/server-address.ts'
import { code, html, type Fragment } from '../../web/markup.ts'
import { table } from '../list.ts'
import { command, copyButton, named, section, snippet } from '../parts.ts'
import type { Frame, Texts } from '../engine/form.ts'
import { requestCommand } from './apis/recipes.ts'
import { exampleOf, installationColumns } from './organizations/installations.ts'

/** For whom a client acts without a user, and how it gets its tokens. */

export interface Installed {
  readonly installations: readonly InstallationDocument[]
  readonly names: Texts
  readonly next: string | null
}

/** Whether a client can act without a user, so that it can be installed (RFC 6749 §4.4). */
export function actsAlone({ grant_types: types, token_endpoint_auth_method: method }: ClientDocument): boolean {
  return method !== 'none' && types.includes('client_credentials')
}

/** The organizations that installed the client. undefined: none can. */
export function installationsOf(frame: Frame, client: ClientDocument, installed: Installed): Fragment {
  const { installations, names, next } = installed
  if (!actsAlone(client) && installations.length === 0) return undefined
  const [, ...columns] = installationColumns(frame)
  const more = html`<p class="hint">
    These are the newest. All of them: ${command(`grantor client list-installations ${forShell(client.client_id)}`)}
  </p>`
  return section(
    'Installations',
    html`${table(
      { ...frame, forms: [] },
      {
        caption: 'Organizations that installed the client, newest first',
        rows: installations,
        empty: html`<p>The client is installed for no organization. It is installed on the page of one.</p>`,
        columns: [
          { heading: 'Organization', cell: (one) => named(frame, 'organizations', one.organization_id, names) },
          ...columns,
        ],
      },
    )}
    ${next === null ? undefined : more}`,
  )
}

/** A request to copy, or where the client sends the browser of a user. */
export function accessOf(
  frame: Frame,
  client: ClientDocument,
  { installations }: Pick<Installed, 'installations'>,
  apis: readonly ApiDocument[],
): Fragment {
  const address = addressOf(frame.issuer, AUTHORIZE_PATH)
  const byUser = html`<p>
    For a user, it sends the browser to the authorization address: ${code(address)}${copyButton(address)}
  </p>`
  const alone = actsAlone(client)
  const isByUser = client.grant_types.includes('authorization_code')
  if (!alone && !isByUser) return undefined
  return section(
    'How the client gets a token',
    html`${isByUser ? byUser : undefined}
    ${alone ? html`${snippet('A token request without a user', requestOf(frame, client, installations, apis))}` : undefined}`,
  )
}

/** For an organization, if one installed the client; otherwise for the client itself. */
function requestOf(
  frame: Frame,
  client: ClientDocument,
  installations: readonly InstallationDocument[],
  apis: readonly ApiDocument[],
): string {
  const method = client.token_endpoint_auth_method
  if (installations.some(({ disabled_at: disabled }) => disabled === null))
    return exampleOf(frame, installations, method)
  const [found] = apis.flatMap(({ resource, scopes }) =>
    scopes.filter((scope) => mayHave(client, scope)).map(({ name }) => ({ resource, scope: name })),
  )
  return requestCommand(frame.issuer, client.client_id, found ?? { resource: '…' }, method)
}

/** Whether the client can have a scope without a user, who would authenticate (decision 0006). */
function mayHave(
  { scope, approved_scope: approved }: ClientDocument,
  { name, granted_to: to, step_up: step }: ApiDocument['scopes'][number],
): boolean {
  if (step !== null || (scope !== undefined && !scope.split(' ').includes(name))) return false
  return to === 'users-and-machines' || approved.split(' ').includes(name)
}
