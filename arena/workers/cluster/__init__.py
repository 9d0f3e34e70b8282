"""Workers on other machines, through Dask."""

from arena.workers.cluster.cluster import PATIENCE_SECONDS, build_there, open_cluster
from arena.workers.cluster.dask import address_of, connected, dask_for
from arena.workers.cluster.transfer import Asked, Store
