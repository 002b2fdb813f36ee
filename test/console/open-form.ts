import assert from 'node:assert/strict'
import type { Response as Answer } from 'light-my-request'
import { formFields } from '../../src/console/engine/filling.ts'
import { chosenRows, fieldsIn, type Form } from '../../src/console/engine/form.ts'
import type { InputField } from '../../src/console/engine/input-fields.ts'
import { type ConsoleBrowser, filledIn, formOf } from '../../tools/console-browser.ts'
import { formAction, hiddenFields } from '../../tools/flow.ts'
import type { AdminServer } from '../support/admin-server.ts'
import { perform } from '../support/tasks.ts'
import { makeFormObjects, type FormOnScreen, type Objects } from './form-objects.ts'

/** A form as a browser without script sends it: with what its page has, and a value in each field that needs one. */

export type Fields = Readonly<Record<string, string>>

/** A form on the page that asks, and what a browser sends of it. */
export interface OpenForm extends FormOnScreen {
  readonly address: string
  readonly asked: Answer
  /** Where the form is sent to. */
  readonly action: string
  readonly row: string | undefined
  readonly objects: Objects
  /** As the page has it. */
  readonly shown: Fields
  /** With what the person typed. */
  readonly body: Fields
}

/** Makes what the form is about, and opens its page. */
export async function openForm(stage: AdminServer, browser: ConsoleBrowser, one: FormOnScreen): Promise<OpenForm> {
  const { screen, form } = one
  const { task } = form
  const objects = await makeFormObjects(stage, screen, form)
  const member = chosenRows(form)?.member
  const row = member === undefined ? undefined : objects[member]
  const path = screen.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(objects[name] ?? ''))
  const query = { ...(await CHOSEN[task]?.(stage)), ask: task, ...(row === undefined ? {} : { row }) }
  const address = `${path}?${new URLSearchParams(query).toString()}`
  const asked = await browser.open(address)
  const own = formOf(asked, task)
  const shown = { ...hiddenFields({ body: own }), ...filledIn(asked, task) }
  const body = { ...shown, ...(await typeIn(stage, one, objects, shown)) }
  return { ...one, address, asked, action: formAction({ body: own }), row, objects, shown, body }
}

/** What the person types: a value in each field that needs one and is empty, and what the task wants besides. */
export async function typeIn(
  stage: AdminServer,
  { form, ...one }: FormOnScreen,
  objects: Objects,
  shown: Fields,
): Promise<Fields> {
  const { task } = form
  if (fieldsIn(form).length === 0) return {}
  const needed = leavesIn(form)
    .filter(([at, { isRequired }]) => isRequired && !at.includes('.') && (shown[at] ?? '') === '')
    .map(([at]) => [at, objects[at] ?? VALUES[at]?.(stage) ?? assert.fail(`${task} needs ${at}`)])
  return { ...Object.fromEntries(needed), ...(await TYPED[task]?.(stage, objects)), ...changeOf({ form, ...one }) }
}

/** The fields of a form that have no others in them, of rows the first one, by their paths. */
export function leavesIn(form: Form): readonly (readonly [path: string, field: InputField])[] {
  return formFields(form).flatMap((field) => leavesOf(field))
}

function leavesOf(field: InputField, above = ''): readonly (readonly [path: string, field: InputField])[] {
  const path = `${above}${field.name}`
  if (field.parts.length === 0) return [[path, field]]
  return field.parts.flatMap((part) => leavesOf(part, `${path}.${field.kind === 'rows' ? '0.' : ''}`))
}

/** A change of one field of a form that edits. */
function changeOf({ form, screen }: FormOnScreen): Fields {
  if (form.kind !== 'edit') return {}
  return CHANGES[screen.path.endsWith('/scopes') ? `${form.task} of scopes` : form.task] ?? assert.fail(form.task)
}

const CHANGES: Readonly<Record<string, Fields>> = {
  'api.update': { 'name.default': 'Other' },
  'api.update of scopes': { 'scopes.0.sentence.default': 'Other' },
  'client.approve-scopes': { scope: '' },
  'client.set-keys': { token_endpoint_auth_signing_alg: '' },
  'client.set-rules': { claims: 'id-token' },
  'client.update': { client_name: 'Other' },
  'access-rule.update': { sentence: 'Other' },
  'organization-access-rule.update': { sentence: 'Other' },
  'group.update': { name: 'Other' },
  'organization-group.update': { name: 'Other' },
  'organization.rename': { name: 'Globex' },
  'provider.update': { name: 'Other' },
  'role.set': { access: 'write' },
  'user.set-email': { email: 'other@acme.test' },
  'user.update': { name: 'Hopper' },
}

type Typing<Given extends readonly unknown[] = []> = Readonly<
  Record<string, (stage: AdminServer, ...given: Given) => Fields | Promise<Fields>>
>

/** What the person chooses before the form, in the address. */
const CHOSEN: Typing = {
  'provider.create': () => ({ template: 'oidc', provider_id: `p-${(count += 1)}` }),
  'domain.block': () => ({ pattern: aHost() }),
  'client.purge': async ({ server }) => {
    const text = `Flood ${(count += 1)}`
    await perform(server.context, 'client.create', { client_name: text, grant_types: ['client_credentials'] })
    return { text, source: 'operator' }
  },
}

/** What the person types though the schema does not require it, by the task. */
const TYPED: Typing<[Objects]> = {
  'access-rule.create': () => ({ clients: 'unverified', state: 'off' }),
  'organization-access-rule.create': () => ({ clients: 'unverified', state: 'off' }),
  'client.create': () => ({ redirect_uris: 'https://new.example/cb' }),
  'domain.trust': () => ({ pattern: aHost() }),
  'member.add': (_, { user_id = '' }) => ({ user_id }),
  'group.add-member': (_, { user_id = '' }) => ({ user_id }),
  'organization-group.add-member': (_, { user_id = '' }) => ({ user_id }),
  'provider.create': () => ({ issuer: 'http://127.0.0.1:9' }),
  'token.inspect': async (stage) => ({ token: (await stage.makeTokens()).access_token }),
  'token.revoke': async (stage) => ({ token: (await stage.makeTokens()).access_token }),
}

/** What the person types in a field that needs something, by its path. */
const VALUES: Readonly<Record<string, (stage: AdminServer) => string>> = {
  access: () => 'read',
  address: () => 'ada@acme.test',
  client_id: () => 'grantor',
  client_name: () => 'Board',
  client_secret: () => '2b7e151628aed2a6abf7158809cf4f3c',
  confirm: () => 'everything',
  days: () => '1',
  email: (stage) => stage.anEmail(),
  group_id: () => `g-${(count += 1)}`,
  name: () => 'Acme',
  overlap_seconds: () => '60',
  pattern: () => aHost(),
  provider_id: () => `p-${(count += 1)}`,
  resource: (stage) => stage.aResource(),
  rule_id: () => `r-${(count += 1)}`,
  scope: () => 'read',
  template: () => 'oidc',
  token: () => '',
  uses: () => '1',
}

let count = 0
const aHost = (): string => `host-${(count += 1)}.example`
