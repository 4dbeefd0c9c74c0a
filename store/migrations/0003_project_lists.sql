-- A page of the public projects of an account, and the projects that follow a
-- stack, without a look at the others.

CREATE INDEX projects_public ON projects (account, slug) WHERE visibility = 'public';
CREATE INDEX projects_by_stack_version ON projects (stack_account, stack_slug, stack_version);
DROP INDEX projects_by_stack;
