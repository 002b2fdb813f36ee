import { html, type Markup } from '../web/markup.ts'

// Drawn in the colour of the text around them, and hidden from screen readers, because the text beside them says the same.

function drawing(path: string): Markup {
  return html`<svg viewBox="0 0 20 20" aria-hidden="true"><path d="${path}" /></svg>`
}

export const overviewIcon = drawing('M3 11.5 10 4l7 7.5M5 10v6.5h10V10M8.5 16.5v-4h3v4')
export const clientsIcon = drawing('M3.5 3.5h5v5h-5zM11.5 3.5h5v5h-5zM3.5 11.5h5v5h-5zM14 11.5v5M11.5 14h5')
export const usersIcon = drawing('M10 9.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM4 16.5c.6-3 3-4.5 6-4.5s5.4 1.5 6 4.5')
export const groupsIcon = drawing(
  'M7.5 9.5a2.75 2.75 0 1 0 0-5.5 2.75 2.75 0 0 0 0 5.5ZM2.5 16c.4-2.8 2.4-4 5-4s4.6 1.2 5 4M13 4.3a2.75 2.75 0 0 1 0 4.9M14.5 12.3c1.7.5 2.8 1.7 3 3.7',
)
export const rulesIcon = drawing('M7.2 3.5h5.6l3.7 3.7v5.6l-3.7 3.7H7.2l-3.7-3.7V7.2zM6.5 10h7')
export const explainIcon = drawing('M3.5 4.5h13v9h-7l-3.5 3v-3H3.5zM7 9h6')
export const grantsIcon = drawing('M7 13a3.5 3.5 0 1 1 2.9-5.5h7v3h-2v2h-3v-2h-2A3.5 3.5 0 0 1 7 13ZM6.5 9.5v.05')
export const auditIcon = drawing('M5 3.5h10v13H5zM8 7h4M8 10h4M8 13h2')
export const rolesIcon = drawing('M10 3.5 4 6v4c0 3.5 2.6 5.7 6 6.5 3.4-.8 6-3 6-6.5V6z')
export const credentialsIcon = drawing('M3 5.5h14v9H3zM6 9h4M6 11.5h2.5M14 9.5v2')
export const keysIcon = drawing('M4 16.5h12M12 4.5l3 3-7 7H5v-3z')
export const tokenIcon = drawing('M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM8 8a2 2 0 1 1 3 1.7c-.7.4-1 .8-1 1.8M10 14v.05')
export const serverIcon = drawing('M4 4h12v5H4zM4 11h12v5H4zM7 6.5v.05M7 13.5v.05')
export const organizationsIcon = drawing('M4 16.5v-13h7v13M11 8h5v8.5M2.5 16.5h15M6.5 7h2M6.5 10h2M6.5 13h2')
export const domainsIcon = drawing(
  'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM3 10h14M10 3c4 4.5 4 9.5 0 14M10 3c-4 4.5-4 9.5 0 14',
)
export const initialTokensIcon = drawing('M3 6.5h14V9a1.5 1.5 0 0 0 0 3v2.5H3V12a1.5 1.5 0 0 0 0-3zM12 6.5v8')
export const apisIcon = drawing('M3.5 4h13v4.5h-13zM3.5 11.5h13V16h-13zM6.5 6.25v.05M6.5 13.75v.05')
export const providersIcon = drawing('M11 3.5h5.5v13H11M3.5 10h8M9 6.5l3 3.5-3 3.5')
export const searchIcon = drawing('M9 14.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11ZM13 13l4 4')
export const copyIcon = drawing('M7.5 7.5h8v8h-8zM12.5 7.5v-3h-8v8h3')
export const yesIcon = drawing('m4.5 10.5 3.5 3.5 7.5-8')
export const warnIcon = drawing('M10 3.5 2.8 16h14.4zM10 8.5v3.5M10 14v.05')
export const noIcon = drawing('M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM5.2 14.8 14.8 5.2')
export const menuIcon = drawing('M3.5 6h13M3.5 10h13M3.5 14h13')
export const downIcon = drawing('m6 8.5 4 4 4-4')
export const mailIcon = drawing('M3 5.5h14v9.5H3zM3 6l7 5 7-5')
export const lockIcon = drawing('M5 9h10v7.5H5zM7 9V6.5a3 3 0 0 1 6 0V9')
export const outIcon = drawing('M9 3.5H3.5v13H9M8.5 10h8M14 6.5l3 3.5-3 3.5')
export const filterIcon = drawing('M3.5 6h13M6 10h8M8.5 14h3')
export const closeIcon = drawing('m5.5 5.5 9 9M14.5 5.5l-9 9')
