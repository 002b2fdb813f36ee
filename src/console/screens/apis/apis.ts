import { apiName } from '../../words.ts'
import { DEFAULT_API_TOKENS, type ApiDocument } from '../../../admin/api/document.ts'
import { code, html, type Markup } from '../../../web/markup.ts'
import { membersOf } from '../../engine/fields.ts'
import { fromList, linkTo } from '../../links.ts'
import { askLinks } from '../../engine/buttons.ts'
import { filterBar, listHeading, nothing, table } from '../../list.ts'
import { name, time } from '../../parts.ts'
import { screen } from '../../screen.ts'
import { type Form, type Frame } from '../../engine/form.ts'

interface Answers {
  readonly list: { readonly apis: readonly ApiDocument[]; readonly next: string | null }
}

const FIRST = ['resource', 'name', 'scopes']

const CREATE: Form = {
  kind: 'create',
  task: 'api.create',
  // Each scope has its requirement.
  fields: membersOf('api.create', FIRST, ['step_up', 'texts']),
  first: FIRST,
  preset: () => ({ tokens: DEFAULT_API_TOKENS }),
  leadsTo: ({ resource }) => linkTo('apis', String(resource)),
}

export const APIS = screen<Answers>({
  path: '/console/apis',
  section: 'apis',
  reads: { list: { task: 'api.list', input: () => ({}) } },
  filters: ['name'],
  forms: [CREATE],
  names: ({ list }) => Object.fromEntries(list.apis.map((api) => [api.resource, apiName(api)])),
  view: ({ list }, frame) => ({
    title: 'APIs and scopes',
    main: html`${listHeading(frame, 'APIs and scopes', { shown: list.apis.length, next: list.next }, askLinks(frame, CREATE.task))}
    ${filterBar(frame)}
    ${table(frame, {
      caption: 'APIs, by their identifiers',
      rows: list.apis,
      next: list.next,
      empty: nothing(
        frame,
        'An API, such as an MCP server, accepts tokens of this server. Clients request its scopes after you have declared it.',
        'grantor api create --resource <uri> --scope <name>=<sentence>',
      ),
      columns: [
        { heading: 'API', cell: (api) => apiLink(api, frame) },
        { heading: 'Identifier', cell: ({ resource }) => code(resource) },
        { heading: 'Scopes', role: 'meta', cell: ({ scopes }) => String(scopes.length) },
        { heading: 'Tokens', isWide: true, cell: ({ tokens }) => (tokens.format === 'jwt' ? 'JWT' : 'opaque') },
        {
          heading: 'Credentials',
          isWide: true,
          cell: ({ introspection_id: id }) => (id === null ? html`<span class="muted">none</span>` : 'yes'),
        },
        { heading: 'Declared', role: 'meta', cell: ({ created_at: at }) => time(at, frame) },
      ],
    })}`,
  }),
})

function apiLink(api: ApiDocument, frame: Frame): Markup {
  return html`<a href="${fromList(frame, linkTo('apis', api.resource))}">${name(apiName(api), '(no name)')}</a>`
}
