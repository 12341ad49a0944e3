"""How users stand, written into ads for the policy expressions that ask: PREEMPTION_REQUIREMENTS.

A slot's ad shows who has it, and who has its neighbours; a request's shows who asks. Nothing is
decided here.
"""

from __future__ import annotations

from collections.abc import Mapping

from kettle.classad import ClassAd
from kettle.matchmaking.fair_share import MINIMUM_PRIORITY
from kettle.matchmaking.groups import ROOT, Group
from kettle.matchmaking.slots import Slot, SlotTable
from kettle.matchmaking.submitters import Submitter

# Who has a neighbouring slot, what counts most first.
_HOLDER_WORDS = ("PreemptingAccountingGroup", "PreemptingUser", "AccountingGroup", "RemoteUser")
# Limit: slots of a machine of which each tells.
_MOST_NEIGHBOURS = 1000


class Standings:
    """What is said of the submitters and groups of one cycle."""

    def __init__(
        self,
        slots: SlotTable,
        submitters: Mapping[str, Submitter],
        groups: Mapping[str, Group] | None,
    ) -> None:
        """Take the cycle's snapshot; what somebody uses is shown as it is when it is asked for."""
        self._slots = slots
        self._submitters = submitters
        self._groups = groups or {}

    def describe_user(self, slot: Slot) -> None:
        """Show the policy expressions who has a slot and how that user stands."""
        if not slot.remote_user or slot.free:
            return
        holder = self._submitters.get(slot.remote_user)
        facts: dict[str, object] = {
            "RemoteUserPrio": holder.priority if holder else MINIMUM_PRIORITY,
            "RemoteUserResourcesInUse": holder.usage if holder else 0.0,
        }
        if holder is not None:
            facts |= self._group_facts("Remote", holder.group)
        slot.ad = ClassAd(facts, parent=slot.ad)

    def describe_neighbours(self, slot: Slot) -> None:
        """Show the policy expressions how those stand who have the other slots of the machine.

        Who that is says the slot's own ad, in attributes of STARTD_SLOT_ATTRS.
        """
        facts: dict[str, object] = {}
        for number in range(1, min(slot.ad.integer("TotalSlots") or 0, _MOST_NEIGHBOURS) + 1):
            texts = (slot.ad.string(f"slot{number}_{name}") for name in _HOLDER_WORDS)
            user = next(filter(None, texts), None)
            if user is None:
                continue
            holder = self._submitters.get(user)
            said: dict[str, object] = {
                "RemoteUserPrio": holder.priority if holder else MINIMUM_PRIORITY,
                "RemoteUserResourcesInUse": holder.usage if holder else 0.0,
            }
            if holder is not None and holder.group != ROOT:
                said |= self._group_facts("Remote", holder.group)
            facts |= {f"slot{number}_{name}": value for name, value in said.items()}
        if facts:
            slot.ad = ClassAd(facts, parent=slot.ad)

    def describe_submitters(self) -> None:
        """Say in the requests how those stand who ask."""
        for submitter in self._submitters.values():
            if not submitter.requests:
                continue
            facts = ClassAd(
                {
                    "SubmitterUserPrio": submitter.priority,
                    "SubmittorPrio": submitter.priority,
                    "SubmitterUserResourcesInUse": submitter.usage,
                    "SubmitterNegotiatingGroup": submitter.group,
                    "SubmitterAutoregroup": False,
                }
                | self._group_facts("Submitter", submitter.group)
            )
            for request in submitter.requests:
                # A request keeps what was said in the run that it came with.
                if "SubmitterUserPrio" not in request.ad:
                    request.ad.update(facts)

    def _group_facts(self, side: str, name: str) -> dict[str, object]:
        """Return what PREEMPTION_REQUIREMENTS may ask about a group."""
        group = self._groups.get(name)
        return {
            f"{side}Group": name,
            f"{side}GroupResourcesInUse": group.usage if group is not None else 0.0,
            f"{side}GroupQuota": group.quota if group is not None else self._slots.total_weight,
        }
