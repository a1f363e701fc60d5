import type { LibraryGroup } from './page-library.ts'

interface Shelf {
  readonly groups: readonly LibraryGroup[]
  /** Address of the service, without a trailing slash. */
  readonly publicUrl: string
}

const lead = `# Millrace

> Takes events from web, mobile and servers and answers questions about them: statistics, experiments, workflows that personalise content, and accounts. Self-hosted, one service, one HTTP interface.`

/** The list of all pages for language models, in the format of llmstxt.org. */
export function llmsText({ groups, publicUrl }: Shelf): string {
  const sections = groups.map(({ title, pages }) =>
    [
      `## ${title}`,
      '',
      ...pages.map((page) => `- [${page.title}](${publicUrl}/docs/${page.name}.md): ${page.about}`),
    ].join('\n'),
  )
  const reference = [
    '## Reference',
    '',
    `- [OpenAPI 3.1](${publicUrl}/v2/openapi.json): every operation with its shapes, examples and failures`,
    `- [All pages](${publicUrl}/llms-full.txt): the pages above as one text`,
  ].join('\n')
  return `${[lead, ...sections, reference].join('\n\n')}\n`
}

/** All pages as one text of Markdown. */
export function llmsFullText({ groups }: Pick<Shelf, 'groups'>): string {
  const pages = groups.flatMap((group) => group.pages.map(({ source }) => source.trim()))
  return `${[lead, ...pages].join('\n\n')}\n`
}
