"""The season's server: pages and an interface for programs, where teams and hosts do what commands do."""

from arena.portal.portal import ROUTES, Portal, show_host_link
from arena.portal.supervisor import ServerProcess, Supervisor, supervisor_lock
from arena.portal.visit import RouteTerms
