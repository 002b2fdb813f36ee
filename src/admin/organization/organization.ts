import * as z from 'zod'
import type { Context } from '../../ports/context.ts'
import type { OrganizationRecord } from '../../ports/records/organization.ts'
import { mintOrganizationId, type OrganizationId } from '../../protocol/ids.ts'
import { conflict, noSuchOrganization } from '../admin-error.ts'
import { changeTasks } from '../change-tasks.ts'
import { ISO, ISO_OR_NULL, iso, isoOrNull } from '../../base/iso.ts'
import { CHOSEN_ORGANIZATION_ID, LIMIT, NAME, NEXT, ORGANIZATION_ID, pageStart } from '../fields.ts'
import { hasText, listPage, textPage } from '../page.ts'
import { tableOf } from '../../answers/table.ts'
import { defineTask, type Task } from '../task.ts'

const PATH = '/admin/v1/organizations'
const ONE = z.object({ organization_id: ORGANIZATION_ID })
const ORGANIZATION_NAME = NAME.describe('The name, as the consent page shows it.')

const { row, table } = tableOf<OrganizationRecord>()

/** An organization in an answer. */
const ORGANIZATION = table({
  organization_id: row(z.string(), ({ id }) => id),
  name: row(z.string(), ({ name }) => name),
  created_at: row(ISO, ({ createdAt }) => iso(createdAt)),
  disabled_at: row(ISO_OR_NULL, ({ disabledAt }) => isoOrNull(disabledAt)),
  not_before: row(
    ISO.describe('The not-before time: tokens for the organization issued earlier are revoked.'),
    ({ notBefore }) => iso(notBefore),
  ),
})
const ORGANIZATION_DOCUMENT = z.object(ORGANIZATION.shape).meta({ id: 'Organization' })

export type OrganizationDocument = z.output<typeof ORGANIZATION_DOCUMENT>

const { change, end, remove } = changeTasks({
  noun: 'organization',
  path: `${PATH}/{organization_id}`,
  // Only administrators of the server may disable or enable an organization.
  extent: 'server',
  access: 'write',
  input: ONE,
  output: ORGANIZATION_DOCUMENT,
  find: (context, { organization_id: id }) => requireOrganization(context, id),
  missing: ({ organization_id: id }) => noSuchOrganization(id),
  describe: ORGANIZATION.show,
  endOf: (organization) => organization,
})

export const ORGANIZATION_TASKS: readonly Task[] = [
  defineTask({
    name: 'organization.list',
    method: 'GET',
    path: PATH,
    access: 'read-people',
    summary: 'List the organizations, newest first; organizations with a chosen id in the order of the ids.',
    input: z.object({
      limit: LIMIT,
      before: pageStart(ORGANIZATION_ID),
      name: NAME.optional().describe(
        'Only organizations with this text in the name, in any case. A page examines the next 2,000 organizations, and may be empty. Then follow "next".',
      ),
    }),
    output: z.object({ organizations: z.array(ORGANIZATION_DOCUMENT), next: NEXT }),
    async run({ store }, { name, ...page }) {
      const list = store.listOrganizations
      const { rows, next } = await (name === undefined
        ? listPage(list, page)
        : textPage(list, (one) => hasText(name, one.name), page))
      return { organizations: rows.map(ORGANIZATION.show), next }
    },
  }),
  defineTask({
    name: 'organization.create',
    method: 'POST',
    path: PATH,
    access: 'write',
    creates: true,
    summary: 'Create an organization, for which users and clients may act.',
    input: z.object({ name: ORGANIZATION_NAME, organization_id: CHOSEN_ORGANIZATION_ID.optional() }),
    output: ORGANIZATION_DOCUMENT,
    // It has no members (decision 0005).
    async run({ store, clock, random }, { name, organization_id: chosenId }) {
      const now = clock()
      const id = (chosenId as OrganizationId | undefined) ?? mintOrganizationId(now, random)
      const since = { createdAt: now, disabledAt: undefined, notBefore: now }
      const organization: OrganizationRecord = { id, name, accessRules: [], ...since }
      if ((await store.createOrganization(organization)) === 'id-taken')
        throw conflict(`There is already an organization ${id}.`)
      return ORGANIZATION.show(organization)
    },
  }),
  defineTask({
    name: 'organization.show',
    method: 'GET',
    path: `${PATH}/{organization_id}`,
    access: 'read-people',
    extent: 'organization',
    summary: 'Show an organization.',
    input: ONE,
    output: ORGANIZATION_DOCUMENT,
    run: async (context, { organization_id: id }) => ORGANIZATION.show(await requireOrganization(context, id)),
  }),
  defineTask({
    name: 'organization.rename',
    method: 'PATCH',
    path: `${PATH}/{organization_id}`,
    access: 'write',
    // A misleading name could make a member of two organizations act for the wrong one.
    summary: 'Rename an organization.',
    undo: 'organization.rename',
    input: ONE.extend({ name: ORGANIZATION_NAME }),
    output: ORGANIZATION_DOCUMENT,
    async run(context, { organization_id: id, name }) {
      const { name: previous } = await requireOrganization(context, id)
      if ((await context.store.renameOrganization({ id, name, previous })) === 'conflict')
        throw conflict(`The organization ${id} was changed or deleted at the same time. Try again.`)
      return ORGANIZATION.show(await requireOrganization(context, id))
    },
  }),
  end(
    'disable',
    'Disable an organization: tokens for it are revoked, and no new tokens are issued.',
    ({ store, clock }, { organization_id: id }) => store.disableOrganization({ id, now: clock() }),
  ),
  change(
    'enable',
    'Enable a disabled organization. Revoked tokens stay revoked.',
    ({ store, clock }, { organization_id: id }) => store.enableOrganization({ id, now: clock() }),
  ),
  // Administrators of the organization may revoke each grant, so after an intrusion they may revoke all tokens at once.
  {
    ...end(
      'revoke-tokens',
      'Revoke all tokens for an organization. Clients can request new ones.',
      ({ store, clock }, { organization_id: id }) => store.revokeOrganizationTokens({ id, now: clock() }),
    ),
    extent: 'organization',
  },
  remove(
    'delete',
    'Delete an organization with its memberships and installations. Tokens for it stop working.',
    ({ store, clock }, { organization_id: id }) => store.deleteOrganization({ id, now: clock() }),
  ),
]

/** Finds an organization. @throws AdminError when there is no such organization */
export async function requireOrganization({ store }: Context, id: OrganizationId): Promise<OrganizationRecord> {
  const organization = await store.findOrganization(id)
  if (organization === undefined) throw noSuchOrganization(id)
  return organization
}
