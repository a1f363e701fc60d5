import type { OperatorCommand } from './operator-command.ts'

export const verifyDomainCommand: OperatorCommand = {
  name: 'domain verify',
  summary: 'Marks a domain of e-mail addresses as a company’s own, for its single sign-on.',
  options: {
    domain: { value: 'DOMAIN', required: true, description: 'The domain, as example.com' },
    company: {
      value: 'ID',
      description: 'Whose it is; not needed where there is one company only',
    },
  },
  async run(values, { accounts, domains }) {
    const companyId = await accounts.resolveCompany(values.get('company'))
    const verified = await domains.verifyByOperator(companyId, values.get('domain') ?? '')
    return { data: { ...verified, companyId }, lines: [`${verified.domain} is verified for ${companyId}`] }
  },
}
