import { apiName } from '../../words.ts'
import { DEFAULT_API_TOKENS, type ApiDocument } from '../../../admin/api/document.ts'
import { code, html, type Markup } from '../../../web/markup.ts'
import { membersOf } from '../../engine/fields.ts'
import { linkTo } from '../../links.ts'
import { filterBar, nothing, table } from '../../list.ts'
import { name, time } from '../../parts.ts'
import { screen } from '../../screen.ts'
import { taskOf, type Form } from '../../engine/form.ts'

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
    main: html`<div class="heading">
        <h1>APIs and scopes</h1>
        ${frame.mayWrite ? html`<a class="button" href="?ask=${CREATE.task}">${taskOf(CREATE).words.label}</a>` : undefined}
      </div>
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
          { heading: 'API', cell: apiLink },
          { heading: 'Identifier', cell: ({ resource }) => code(resource) },
          { heading: 'Scopes', cell: ({ scopes }) => String(scopes.length) },
          { heading: 'Tokens', isWide: true, cell: ({ tokens }) => (tokens.format === 'jwt' ? 'JWT' : 'opaque') },
          {
            heading: 'Credentials',
            isWide: true,
            cell: ({ introspection_id: id }) => (id === null ? html`<span class="muted">none</span>` : 'yes'),
          },
          { heading: 'Declared', cell: ({ created_at: at }) => time(at, frame) },
        ],
      })}`,
  }),
})

function apiLink(api: ApiDocument): Markup {
  return html`<a href="${linkTo('apis', api.resource)}">${name(apiName(api), '(no name)')}</a>`
}
