export interface ListedPage {
  /** Of its file in docs/ without `.md`, and of its address below /docs. */
  readonly name: string
  /** What a reader finds there, for lists of pages; part of a sentence. */
  readonly about: string
}

export interface PageGroup {
  readonly title: string
  readonly pages: readonly ListedPage[]
}

/** The pages of docs/ in the order in which a reader meets them. Their titles are their headings. */
export const pageGroups: readonly PageGroup[] = [
  {
    title: 'Start',
    pages: [
      { name: 'quick-start', about: 'from nothing to the answer of a query in five minutes' },
      { name: 'console', about: 'the web application: what each screen is for, keys, roles, languages' },
      { name: 'concepts', about: 'what the words mean and how the parts belong together' },
    ],
  },
  {
    title: 'Collect',
    pages: [
      { name: 'collecting', about: 'events from pages, mobile applications and servers' },
      { name: 'tracker', about: 'the script for web pages' },
      { name: 'sdk', about: 'the typed client and the event sender for TypeScript and JavaScript' },
      {
        name: 'migrating',
        about: 'senders that speak the Segment interface change their host and write key',
      },
    ],
  },
  {
    title: 'Ask',
    pages: [
      { name: 'query-language', about: 'filters, time, comparisons, order and formats of a query' },
      { name: 'measures', about: 'every measure and dimension with its type and meaning' },
      { name: 'statistics', about: 'what is counted and how, to the last rule' },
      { name: 'saved-queries', about: 'queries under a name, and results by mail' },
      { name: 'experiments', about: 'assignment, exposures, results and their formulas' },
      { name: 'reports', about: 'what changed and why, in sentences that prove their numbers' },
    ],
  },
  {
    title: 'Show',
    pages: [
      { name: 'workflows', about: 'which content a person is shown' },
      { name: 'datasources', about: 'files and addresses that workflows read' },
    ],
  },
  {
    title: 'Accounts',
    pages: [
      { name: 'accounts', about: 'sign-in, users, roles, teams and applications' },
      { name: 'single-sign-on', about: 'SAML with Okta, Entra ID, Google Workspace and Keycloak' },
      { name: 'provisioning', about: 'users and teams by SCIM from Okta and Entra ID' },
    ],
  },
  {
    title: 'Operate',
    pages: [
      { name: 'operating', about: 'configuration, sizes, upgrade and scale-out' },
      { name: 'data-life', about: 'retention, one person’s data, backup and restore' },
      { name: 'errors', about: 'every failure with its code and what to do' },
      { name: 'faults', about: 'what happens when input is bad or things break' },
      { name: 'interface', about: 'what clients rely on' },
    ],
  },
]
